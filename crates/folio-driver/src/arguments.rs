//! The arguments of a launch: of a kernel in IR, and of one in the driver's language.

use folio_core::hal::{Args, Argument, HalError, HalErrorKind, Param, ParamPtr};
use smallvec::SmallVec;

/// The arguments of a kernel in IR: by parameter that is memory, in the kernel's order.
#[derive(Debug)]
pub struct Passed<'p, P> {
    /// The shapes.
    pub params: SmallVec<[ParamPtr; 4]>,
    /// The pointers to the memory: addresses, or objects of the driver's.
    pub pointers: SmallVec<[P; 4]>,
    /// The scalars' bytes.
    pub scalars: &'p [u8],
}

/// An argument of an opaque kernel.
#[derive(Clone, Copy, Debug)]
pub enum Passing<'p> {
    /// The memory of a parameter.
    Memory(&'p Param),
    /// The bytes of a value.
    Value(&'p [u8]),
    /// Local memory of so many bytes.
    Local(u32),
}

impl<'p, P> Passed<'p, P> {
    /// Nothing but the scalars. Vectors are filled in place, since to move them takes longer.
    #[inline]
    pub fn new(scalars: &'p [u8]) -> Passed<'p, P> {
        Passed { params: SmallVec::new(), pointers: SmallVec::new(), scalars }
    }

    /// A reduction's parameter has memory for the values that the launch's blocks leave: none is
    /// combined.
    pub fn leaves(&self, memory: usize) -> bool {
        self.params.get(memory).is_some_and(|param| param.extent[2] > 1)
    }

    /// Has a launch leave the values of a reduction in other memory. Returns where the last of them
    /// belongs: what leads there, and which element it is.
    pub fn redirect(&mut self, memory: usize, first: P) -> Result<(P, u64), HalError> {
        let missing = || HalError::unsupported("a reduction without its parameter");
        let param = self.params.get_mut(memory).ok_or_else(missing)?;
        let pointer = self.pointers.get_mut(memory).ok_or_else(missing)?;
        let place = param.start();
        param.origin = [0; 3];
        Ok((std::mem::replace(pointer, first), place))
    }
}

/// Arguments that do not fit their kernel.
pub fn misfit(why: impl Into<String>) -> HalError {
    HalError::new(HalErrorKind::Arguments, why.into())
}

/// Whether a kernel takes so many arguments.
pub fn check_count(given: usize, takes: usize) -> Result<(), HalError> {
    match given == takes {
        true => Ok(()),
        false => Err(misfit(format!("{given} arguments for a kernel that takes {takes}"))),
    }
}

/// Bytes of local memory that arguments ask for.
pub fn local_bytes(arguments: &[Argument]) -> u64 {
    let bytes = arguments.iter().map(|argument| match argument {
        Argument::Local(bytes) => u64::from(*bytes),
        Argument::Memory(_) | Argument::Value(_) => 0,
    });
    bytes.sum()
}

/// The arguments of a launch of an opaque kernel, in the kernel's order.
pub fn passing<'p>(
    args: &Args<'p>,
) -> impl Iterator<Item = Result<Passing<'p>, HalError>> + use<'p> {
    let (params, mut values) = (args.params, args.blob);
    args.arguments.iter().map(move |argument| {
        let missing = || misfit("an argument without its memory or value");
        Ok(match *argument {
            Argument::Memory(at) => {
                Passing::Memory(params.get(usize::from(at)).ok_or_else(missing)?)
            }
            Argument::Value(bytes) => {
                let bytes = bytes as usize;
                let value = values.get(..bytes).ok_or_else(missing)?;
                values = values.get(bytes.next_multiple_of(8)..).unwrap_or(&[]);
                Passing::Value(value)
            }
            Argument::Local(bytes) => Passing::Local(bytes),
        })
    })
}

/// Bytes as words in the order of memory, the last one filled up with zeros.
pub fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;
    use folio_core::hal::{HostPtr, MemBase, MemRef};
    use std::ptr::null_mut;

    fn param() -> Param {
        let mem = MemRef { base: MemBase::Host(HostPtr(null_mut())), offset: 0 };
        let (dims, extent) = ([1, 4, 8], [1, 2, 2]);
        let origin = [0, 1, 3];
        Param { mem, size: 4, write: true, dims, origin, extent, index: [0; 3], shape: extent }
    }

    #[test]
    fn values_follow_at_multiples_of_a_word() {
        let blob: Vec<u8> = (1..=24).collect();
        let params = [param()];
        let arguments =
            [Argument::Value(3), Argument::Memory(0), Argument::Local(64), Argument::Value(12)];
        let args = Args { blob: &blob, params: &params, proved: false, arguments: &arguments };
        let seen: Vec<Passing<'_>> = passing(&args).collect::<Result<_, _>>().unwrap();
        assert!(matches!(seen[0], Passing::Value([1, 2, 3])));
        assert!(matches!(seen[1], Passing::Memory(of) if of == &params[0]));
        assert!(matches!(seen[2], Passing::Local(64)));
        assert!(matches!(seen[3], Passing::Value(value) if value == &blob[8..20]));
        assert_eq!(local_bytes(&arguments), 64);
        for wrong in [Argument::Memory(1), Argument::Value(25)] {
            let args = Args { arguments: &[wrong], ..args };
            let error = passing(&args).next().unwrap().unwrap_err();
            assert!(matches!(error.kind, HalErrorKind::Arguments), "{error}");
        }
        assert!(check_count(2, 2).is_ok());
        let error = check_count(2, 1).unwrap_err();
        assert_eq!(error.to_string(), "2 arguments for a kernel that takes 1");
    }

    #[test]
    fn the_last_word_is_filled_up_with_zeros() {
        let made: Vec<u64> = words(&[1, 0, 0, 0, 0, 0, 0, 0, 2]).collect();
        assert_eq!(
            made,
            [
                u64::from_ne_bytes([1, 0, 0, 0, 0, 0, 0, 0]),
                u64::from_ne_bytes([2, 0, 0, 0, 0, 0, 0, 0])
            ]
        );
    }

    #[test]
    fn a_reduction_leaves_its_values_elsewhere() {
        let mut passed = Passed::new(&[]);
        passed.params.push(param().at(null_mut()));
        passed.pointers.push("result");
        assert_eq!(passed.redirect(0, "scratch").unwrap(), ("result", 8 + 3));
        assert_eq!((passed.params[0].origin, passed.pointers[0]), ([0; 3], "scratch"));
        assert!(passed.redirect(1, "scratch").is_err());
    }
}
