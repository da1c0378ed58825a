//! The harness of a program of random kernels: each kernel is interpreted from its IR, computed on
//! the CPU with every instruction set, and launched on a simulated device; all of that has to be
//! the same.

use super::{Case, generate};
use crate::interp::{self, Arg, Failure, Interpreter, MOST_FAILURES, Order, Stop, run_like, same};
use folio::{bf16, f16};
use folio_core::{
    Buffer, BufferOptions, Cause, DeviceType, Error, Log, Queue, Result, Runtime, Slice, SliceMut,
    Violation, ViolationKind,
};
use folio_cpu::CpuBackend;
use folio_device::printed::kind;
use folio_device::{Built, Instructions, Kernel};
use folio_kernel::launch::Launch;
use folio_sim::{DeviceSpec, SimBackend};
use std::cell::RefCell;
use std::sync::Arc;

/// Statements that a kernel may run.
const BUDGET: u64 = 20_000_000;
/// The variable that plants a bug: guards of the interior are not looked at.
pub const PLANTED: &str = "FOLIO_PLANTED_GUARDS";
/// Words of what a kernel prints to, before the first line.
const LOG_HEAD: usize = 2;
/// Bytes around the parts that kernels use.
const FRAME: u8 = 0xa5;

/// Launches a case's kernel on a queue, with what is given.
pub type LaunchFn<'l> = &'l dyn Fn(&Runtime, &Queue, &LaunchCase) -> Result<()>;

/// Reads a part of a buffer, from an offset in an extent.
type ReadFn<'l> = &'l dyn Fn(&[usize], &[usize]) -> Result<Vec<u8>>;

/// The arguments of one launch, and what it leaves.
#[derive(Debug)]
pub struct LaunchCase {
    case: Case,
    left: RefCell<Vec<Arg>>,
    /// Parameters of which the surroundings have changed.
    damaged: RefCell<Vec<usize>>,
}

impl LaunchCase {
    fn new(case: &Case) -> LaunchCase {
        let left = RefCell::new(case.args.clone());
        LaunchCase { case: case.clone(), left, damaged: RefCell::default() }
    }

    /// The extent and bytes of what is passed for a parameter.
    fn arg(&self, at: usize) -> (Vec<usize>, &[u8]) {
        match &self.case.args[at] {
            Arg::View { extent, bytes } => (extent.iter().map(|n| *n as usize).collect(), bytes),
            Arg::Scalar(bytes) | Arg::Reduce(bytes) => (vec![1], bytes),
            Arg::Local => (vec![0], &[]),
        }
    }

    fn frame(&self, at: usize) -> usize {
        usize::from(self.case.framed[at])
    }

    /// Every second kernel has pages of one element, so that what is around of a failed part can be
    /// read.
    fn page(&self) -> usize {
        if self.case.seed.is_multiple_of(2) { 1 } else { 3 }
    }

    /// The value of a parameter.
    pub fn scalar<T: DeviceType>(&self, at: usize) -> T {
        values::<T>(self.arg(at).1)[0]
    }

    /// A new buffer with what is passed for a parameter, in pages of a few elements.
    pub fn buffer<T: DeviceType, const D: usize>(
        &self,
        rt: &Runtime,
        at: usize,
    ) -> Result<Buffer<T, D>> {
        let (extent, bytes) = self.around(at, size_of::<T>());
        let options = BufferOptions::new().page([self.page(); D]);
        rt.buffer_with((values::<T>(&bytes), of_rank(&extent)), options)
    }

    /// The extent and bytes of what is passed for a parameter with what is around of it.
    fn around(&self, at: usize, size: usize) -> (Vec<usize>, Vec<u8>) {
        let ((extent, bytes), frame) = (self.arg(at), self.frame(at));
        let whole: Vec<usize> = extent.iter().map(|n| n + 2 * frame).collect();
        let mut around = vec![FRAME; whole.iter().product::<usize>() * size];
        let len = extent[extent.len() - 1] * size;
        for (row, to) in rows(&extent, frame, size).enumerate() {
            around[to..to + len].copy_from_slice(&bytes[row * len..][..len]);
        }
        (whole, around)
    }

    /// The part of it that the kernel is given.
    pub fn part<'b, T: DeviceType, const D: usize>(
        &self,
        at: usize,
        of: &'b Buffer<T, D>,
    ) -> Result<Slice<'b, T, D>>
    where
        Buffer<T, D>: Parts<T, D>,
    {
        of.part_at([self.frame(at); D], of_rank(&self.arg(at).0))
    }

    /// The part of it that the kernel is given, to be written.
    pub fn part_mut<'b, T: DeviceType, const D: usize>(
        &self,
        at: usize,
        of: &'b mut Buffer<T, D>,
    ) -> Result<SliceMut<'b, T, D>>
    where
        Buffer<T, D>: Parts<T, D>,
    {
        of.part_mut_at([self.frame(at); D], of_rank(&self.arg(at).0))
    }

    /// Keeps what it holds after the launch.
    pub fn keep<T: DeviceType, const D: usize>(&self, at: usize, of: &Buffer<T, D>) -> Result<()>
    where
        Buffer<T, D>: Parts<T, D>,
    {
        match of.all() {
            Ok(all) => {
                self.kept(at, bytes(&all), size_of::<T>());
                Ok(())
            }
            Err(failed) => {
                self.look_around(at, &|offset, extent| {
                    let side = of.part_at(of_rank(offset), of_rank(extent))?;
                    Ok(bytes(&side.to_vec()?))
                });
                Err(failed)
            }
        }
    }

    /// What a kernel prints to.
    pub fn log(&self, rt: &Runtime, at: usize) -> Result<Log> {
        Log::new(rt, self.arg(at).0[0] - LOG_HEAD)
    }

    /// Keeps what a kernel has printed, as text.
    pub fn keep_log(&self, at: usize, of: &Log) -> Result<()> {
        let lines = of.take()?;
        let text = if lines.lost > 0 { String::new() } else { lines.to_string() };
        if let Arg::View { bytes, .. } = &mut self.left.borrow_mut()[at] {
            *bytes = text.into_bytes();
        }
        Ok(())
    }

    /// Keeps the inner part of what a buffer holds, and whether what is around of it has changed.
    fn kept(&self, at: usize, mut all: Vec<u8>, size: usize) {
        let ((extent, _), frame) = (self.arg(at), self.frame(at));
        let len = extent[extent.len() - 1] * size;
        let mut found = vec![];
        for from in rows(&extent, frame, size) {
            found.extend_from_slice(&all[from..from + len]);
            all[from..from + len].fill(FRAME);
        }
        if all.iter().any(|byte| *byte != FRAME) {
            self.damaged.borrow_mut().push(at);
        }
        match &mut self.left.borrow_mut()[at] {
            Arg::View { bytes, .. } | Arg::Reduce(bytes) => *bytes = found,
            Arg::Scalar(_) | Arg::Local => {}
        }
    }

    /// Of a part that has failed, what is around of it.
    fn look_around(&self, at: usize, read: ReadFn<'_>) {
        let (frame, (extent, _)) = (self.frame(at), self.arg(at));
        let whole: Vec<usize> = extent.iter().map(|n| n + 2 * frame).collect();
        let sides = (0..whole.len()).flat_map(|dim| [(dim, 0), (dim, whole[dim] - frame)]);
        for (dim, from) in sides.filter(|_| frame > 0) {
            let (mut offset, mut size) = (vec![0; whole.len()], whole.clone());
            (offset[dim], size[dim]) = (from, frame);
            let fine = match read(&offset, &size) {
                Ok(side) => side.iter().all(|byte| *byte == FRAME),
                Err(_) => self.page() > 1,
            };
            if !fine {
                self.damaged.borrow_mut().push(at);
            }
        }
    }
}

/// The common interface of buffers of every number of dimensions.
pub trait Parts<T: DeviceType, const D: usize> {
    /// A part.
    fn part_at(&self, offset: [usize; D], extent: [usize; D]) -> Result<Slice<'_, T, D>>;
    /// A part that is written.
    fn part_mut_at(&mut self, offset: [usize; D], extent: [usize; D])
    -> Result<SliceMut<'_, T, D>>;
    /// All of it.
    fn all(&self) -> Result<Vec<T>>;
}

macro_rules! parts {
    ($($rank:literal)*) => {$(
        impl<T: DeviceType> Parts<T, $rank> for Buffer<T, $rank> {
            fn part_at(&self, offset: [usize; $rank], extent: [usize; $rank]) -> Result<Slice<'_, T, $rank>> {
                self.slice(offset, extent)
            }
            fn part_mut_at(&mut self, offset: [usize; $rank], extent: [usize; $rank]) -> Result<SliceMut<'_, T, $rank>> {
                self.slice_mut(offset, extent)
            }
            fn all(&self) -> Result<Vec<T>> {
                self.to_vec()
            }
        }
    )*};
}
parts! { 1 2 3 }

/// An extent or position as arrays have it.
fn of_rank<const D: usize>(of: &[usize]) -> [usize; D] {
    std::array::from_fn(|dim| of[dim])
}

/// Where the rows of the inner part begin, in bytes.
fn rows(extent: &[usize], frame: usize, size: usize) -> impl Iterator<Item = usize> + use<> {
    let rank = extent.len();
    let mut leading = [1; 3];
    leading[3 - rank..].copy_from_slice(extent);
    let wide = |dim: usize| if dim + rank >= 3 { leading[dim] + 2 * frame } else { 1 };
    let first = |dim: usize| if dim + rank >= 3 { frame } else { 0 };
    let (planes, lines) = (leading[0], leading[1]);
    let (height, width) = (wide(1), wide(2));
    let (z0, y0) = (first(0), first(1));
    (0..planes * lines).map(move |row| {
        let (z, y) = (z0 + row / lines, y0 + row % lines);
        ((z * height + y) * width + frame) * size
    })
}

fn values<T: DeviceType>(bytes: &[u8]) -> Vec<T> {
    let chunks = bytes.chunks_exact(size_of::<T>());
    // SAFETY: any bits are a value of a device type, and each chunk has as many bytes as one.
    chunks.map(|chunk| unsafe { chunk.as_ptr().cast::<T>().read_unaligned() }).collect()
}

fn bytes<T: DeviceType>(values: &[T]) -> Vec<u8> {
    let (first, len) = (values.as_ptr().cast::<u8>(), size_of_val(values));
    // SAFETY: device types have no padding, so all these bytes are initialised.
    unsafe { std::slice::from_raw_parts(first, len) }.to_vec()
}

/// Runs kernels in all their forms, and prints a line about each: its seed, and a hash of what it
/// leaves, or what is wrong.
#[derive(Debug)]
pub struct Harness {
    cpu: Runtime,
    sim: Runtime,
}

/// How a kernel ended: with these contents, or as one of these failures says.
#[derive(Debug)]
enum Ended {
    Well(Vec<Arg>),
    Failed(Vec<Failure>),
}

impl Harness {
    /// Opens the devices. With [`PLANTED`] in the environment the CPU has a bug.
    ///
    /// # Panics
    /// If they cannot be opened.
    #[expect(clippy::expect_used, reason = "a program for tests")]
    pub fn open() -> Harness {
        if std::env::var_os(PLANTED).is_some() {
            folio_device::planted::plant();
        }
        let cpu = CpuBackend::builder().domains(2).threads(2).build().expect("a CPU");
        let spec = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
        let sim = SimBackend::builder().device(spec).build();
        let open = |builder: folio_core::RuntimeBuilder| builder.build().expect("a runtime");
        Harness {
            cpu: open(Runtime::builder().backend(cpu)),
            sim: open(Runtime::builder().backend(sim)),
        }
    }

    /// The kernel of the case with this seed.
    pub fn case<K: Kernel>(&self, seed: u64, launch: LaunchFn<'_>) {
        self.check(K::code(), seed, launch);
    }

    /// The part that does not depend on a kernel's type, so that it is compiled once.
    fn check(&self, code: &Built, seed: u64, launch: LaunchFn<'_>) {
        let mut case = generate(seed);
        if let Ok(code) = code {
            // Memory that no source names: of tiles.
            case.args.resize(code.ir.params.len(), Arg::Local);
        }
        match self.compare(code, &case, launch) {
            Ok(hash) => println!("{seed}: {hash}"),
            Err(why) => println!("{seed}: wrong: {}", why.replace('\n', "\n  ")),
        }
    }

    fn compare(&self, code: &Built, case: &Case, launch: LaunchFn<'_>) -> Result<String, String> {
        let ir = &code.as_ref().map_err(|error| error.to_string())?.ir;
        let exact = interp::Device::default();
        let wanted = match interpreted(ir, case, exact) {
            Ok(ended) => ended,
            Err(Stop::Budget) => return Ok("too long".to_owned()),
            Err(stop) => return Err(format!("{stop:?}\n{ir}")),
        };
        let found = self.launched(&self.sim, "sim:0", case, launch)?;
        agree(ir, &wanted, &found).map_err(|why| format!("on a simulated device: {why}\n{ir}"))?;
        let cpu = interp::Device { cpu_functions: true, ..exact };
        let wanted = match case.inexact {
            // Other ways may be taken with other results, and be longer.
            true => match interpreted(ir, case, cpu) {
                Err(Stop::Budget) => return Ok("too long".to_owned()),
                ended => ended.map_err(|stop| format!("{stop:?}\n{ir}"))?,
            },
            false => wanted,
        };
        let device = format!("cpu:{}", case.seed % 2);
        let mut before: Option<Vec<Arg>> = None;
        for set in [Instructions::Any, Instructions::Avx2, Instructions::Avx512] {
            if set.limit() != set {
                continue;
            }
            let found = self.launched(&self.cpu, &device, case, launch)?;
            let fine = agree(ir, &wanted, &found);
            let same = match (&before, &found) {
                (Some(before), Ok(found)) => same(ir, before, found),
                _ => Ok(()),
            };
            fine.and(same).map_err(|why| format!("{set:?}: {why}\n{ir}"))?;
            before = found.ok();
        }
        Ok(before.map_or("failed".to_owned(), |args| format!("{:016x}", hash(ir, &args))))
    }

    /// The memory after the launch, or its violation; an error if the launch went wrong.
    fn launched(
        &self,
        rt: &Runtime,
        device: &str,
        case: &Case,
        launch: LaunchFn<'_>,
    ) -> Result<Result<Vec<Arg>, Violation>, String> {
        let given = LaunchCase::new(case);
        let q = rt.queue_on(device).map_err(|error| error.to_string())?;
        let ended = launch(rt, &q, &given);
        let damaged = given.damaged.into_inner();
        if !damaged.is_empty() {
            return Err(format!(
                "what is around of parameters {damaged:?} was written, or cannot be read"
            ));
        }
        match ended {
            Ok(()) => Ok(Ok(given.left.into_inner())),
            Err(Error::Failed(failure)) => match failure.cause() {
                Cause::Kernel(violation) => Ok(Err((**violation).clone())),
                other => Err(other.to_string()),
            },
            Err(other) => Err(other.to_string()),
        }
    }
}

fn interpreted(
    ir: &folio_kernel::Kernel,
    case: &Case,
    device: interp::Device,
) -> Result<Ended, Stop> {
    let mut shape = Launch { range: [1; 3], ..Launch::default() };
    for dim in 0..case.range.len() {
        shape.range[dim] = case.range[dim] as u64;
        shape.offset[dim] = case.offset[dim] as u64;
        shape.group[dim] = case.group.as_ref().map_or(0, |group| group[dim] as u64);
    }
    let mut args = case.args.clone();
    let mut ran = run_like(ir, &shape, &mut args, Order::Forward, device, BUDGET)?;
    if let Some(turn) = case.turn.filter(|_| ran.failures.is_empty()) {
        let claimed = std::mem::replace(&mut args, case.args.clone());
        args[case.claims.clone()].clone_from_slice(&claimed[case.claims.clone()]);
        args[turn] = Arg::Scalar(1u32.to_le_bytes().to_vec());
        ran = run_like(ir, &shape, &mut args, Order::Forward, device, BUDGET)?;
    }
    // Those of a launch are its own.
    args[case.claims.clone()].clone_from_slice(&case.args[case.claims.clone()]);
    if let Some(Arg::View { bytes, .. }) = case.log.map(|at| &mut args[at]) {
        *bytes = printed(&values(bytes)).into_bytes();
    }
    Ok(if ran.failures.is_empty() { Ended::Well(args) } else { Ended::Failed(ran.failures) })
}

/// What is in the words that a kernel has printed to, as the text of [`LaunchCase::keep_log`].
fn printed(words: &[u32]) -> String {
    let (mut lines, mut rest) = (vec![], &words[LOG_HEAD..]);
    while let [length, _, rank, of @ ..] = rest
        && *length > 0
    {
        let (rank, values) = (2 * *rank as usize, *length as usize - 3);
        let wide = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let position: Vec<_> = of[..rank].chunks(2).map(|of| wide(of[0], of[1])).collect();
        let value = |of: &[u32]| match (of[0], wide(of[1], of[2])) {
            (kind::BOOL, bits) => (bits != 0).to_string(),
            (kind::SIGNED, bits) => (bits as i64).to_string(),
            (kind::F32, bits) => format!("{:?}", f32::from_bits(bits as u32)),
            (kind::F64, bits) => format!("{:?}", f64::from_bits(bits)),
            (kind::F16, bits) => format!("{:?}", f16::from_bits(bits as u16).to_f64()),
            (kind::BF16, bits) => format!("{:?}", bf16::from_bits(bits as u16).to_f64()),
            (_, bits) => bits.to_string(),
        };
        let values: Vec<_> = of[rank..values].chunks(3).map(value).collect();
        lines.push((position, values.join(" ")));
        rest = &rest[*length as usize..];
    }
    lines.sort_by(|a, b| a.0.cmp(&b.0));
    match words[1] {
        0 => lines.iter().map(|(item, text)| format!("{item:?} {text}\n")).collect(),
        _ => String::new(),
    }
}

/// A launch ended as the interpreter says.
fn agree(
    ir: &folio_kernel::Kernel,
    wanted: &Ended,
    found: &Result<Vec<Arg>, Violation>,
) -> Result<(), String> {
    match (wanted, found) {
        (Ended::Well(wanted), Ok(found)) => same(ir, wanted, found),
        (Ended::Failed(all), Err(found)) => {
            let known = |failure: &Failure| failure.clone().violation(ir).as_ref() == Some(found);
            // Which of two writers ends, and what it would have done, depends on the order.
            let met = |of: &Failure| matches!(of.kind, ViolationKind::WrittenTwice { .. });
            match all.len() == MOST_FAILURES || all.iter().any(|of| known(of) || met(of)) {
                true => Ok(()),
                false => Err(format!("{found:?} is none of {all:?}")),
            }
        }
        (Ended::Well(_), Err(found)) => Err(format!("{found:?}, but nothing fails")),
        (Ended::Failed(all), Ok(_)) => Err(format!("nothing failed, but {:?} does", all[0])),
    }
}

/// Of what is in views; all NaN are one.
fn hash(ir: &folio_kernel::Kernel, args: &[Arg]) -> u64 {
    crate::interp::plain(ir, args).iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}
