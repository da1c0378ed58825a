//! `Debug` of errors: the text that `Display` has and, by `{:#?}`, the fields.
//!
//! A program that returns an error from `main` shows it by `Debug`, and a person reads it.

use super::{Error, Failure};
use std::fmt::{Debug, Display, Formatter, Result};

/// Variants with their fields: the compiler says when one is missing.
macro_rules! show {
    ($error:ident, $f:ident: $($variant:ident { $($field:ident)* })*) => {
        match $error {
            $(Error::$variant { $($field),* } => {
                $f.debug_struct(stringify!($variant))$(.field(stringify!($field), $field))*.finish()
            })*
            Error::Failed(failure) => $f.debug_tuple("Failed").field(failure).finish(),
        }
    };
}

impl Debug for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if !f.alternate() {
            return Display::fmt(self, f);
        }
        show! { self, f:
            OutOfRange { buffer offset extent range }
            TooLarge { what label extent element_bytes }
            Aliasing { command buffer accesses parameters }
            WrongRuntime { what label by }
            ForeignAccess { command }
            Actions { command actions }
            DeviceNotFound { wanted there }
            OutOfMemory { device what label asked in_use limit }
            Allocator { what label asked align fault }
            HostAccessHeld { buffer by }
            InUse { buffer }
            HasMemory { buffer device }
            OnlyCopy { buffer }
            WaitsForItself { task through }
            WaitInKernel {}
            NotContiguous { buffer extent }
            Reinterpret { buffer why }
            LaunchTooLarge { command launch offset access parameter buffer extent }
            LaunchRange { command launch offset why }
            NoElement { command access parameter buffer }
            GroupSize { kernel launch group why }
            NotSpread { kernel parameter why }
            Kernel { kernel cause }
            ChecksLeft { kernel checks }
            Mismatch { what label source_extent target needed }
            NotAccessible { label home device }
            Inaccessible { pointer wanted place }
            MoveInTask { pointer }
            Stream { pointer bytes cause }
            Freed { what label }
            Misaligned { what label at align }
            ScopeEnded { label }
            Unsupported { device what }
            Environment { variable value allowed }
            Configuration { what why }
            ShutDown {}
            Deadline { unfinished left }
            Device { device doing cause }
            Graph { graph why }
        }
    }
}

impl Debug for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if !f.alternate() {
            return Display::fmt(self, f);
        }
        let Failure { id, what, label, device, cause, told: _ } = self;
        f.debug_struct("Failure")
            .field("id", id)
            .field("what", what)
            .field("label", label)
            .field("device", device)
            .field("cause", cause)
            .finish()
    }
}
