//! Kernel calls in command groups: which accesses they make.

use super::{CommandGroup, Doing};
use crate::buffer::{widen, widen_at};
use crate::call::{Function, Given, Items, KernelCall, Plan};
use crate::engine::launch::Launch;
#[cfg(doc)]
use crate::error::Cause;
use crate::error::{Error, Label, Result};
use crate::geom::Box3;
use crate::hal::{Geometry, Param};
use folio_kernel::device::Kernel;
use std::sync::Arc;

impl CommandGroup {
    /// Runs a kernel call for `items`, on the queue's device.
    ///
    /// What is accessed follows from the kernel. An `In` is read where the launch indexes it, if indices
    /// are sums of positions, extents and scalars (so a stencil's halo is found); in dimensions of other
    /// indices, all of it. An `Out` is discarded, and an `InOut` read and written, at the items'
    /// positions. Positions count from the beginning of the argument; a launch that reaches beyond what
    /// it writes is [`Error::LaunchTooLarge`].
    ///
    /// An index out of bounds, an integer divided by zero, a failed `assert!` or a `panic!` fail the
    /// command with [`Cause::Kernel`]. Without a [`label`](Self::label) the command has the kernel's name.
    pub fn run<K: Kernel, const D: usize>(
        &mut self,
        items: impl Into<Items<D>>,
        call: KernelCall<K, D>,
    ) {
        let code = match K::code() {
            Ok(code) => code,
            Err(cause) => {
                let (kernel, cause) = (Arc::from(K::FUNCTION.name), Arc::new(cause.clone()));
                return self.refuse(Error::Kernel { kernel, cause });
            }
        };
        let places = items.into();
        let (offset, range) = (widen_at(places.offset), widen(places.range));
        if Box3::at(offset, range).is_none() {
            return self.refuse(self.too_large(range, 1));
        }
        if self.label == Label::NONE {
            self.label = Label::from(code.name.clone());
        }
        let KernelCall { scalars, given, .. } = call;
        let plan = Plan::new(code, D, (offset, range), (&given, &scalars));
        let geometry = Geometry { offset, ..Geometry::new(D as u8, range) };
        let mut launch = Launch::new(geometry);
        launch.proved = !code.indexes_arrays;
        for given in given {
            if let Err(error) = self.give(&mut launch, &plan, given) {
                launch.recycle();
                return self.refuse(error);
            }
        }
        drop(plan);
        launch.function = Some(Function::of::<K>(code));
        launch.scalars = scalars;
        self.act(Doing::Kernel(Some(launch)));
    }

    /// Accesses an argument as the kernel does.
    fn give(&mut self, launch: &mut Launch, plan: &Plan<'_>, given: Given) -> Result<()> {
        let (accessed, proved) = plan.accessed(&given);
        launch.proved &= proved;
        let Given { mut part, mode, .. } = given;
        let shape = part.part.extent();
        if !Box3::whole(shape).contains(&accessed) {
            return Err(self.launch_too_large(&launch.geometry, launch.tokens.len(), &part));
        }
        part.whole &= accessed == Box3::whole(shape);
        part.part = accessed.shifted(part.part.min);
        let token = self.access(part, mode);
        launch.params.push(Param { index: accessed.min, shape, ..self.param(token.at) });
        launch.tokens.push(token);
        Ok(())
    }
}
