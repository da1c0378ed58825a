//! Capabilities of Vulkan devices, and needs of kernels that a device lacks.

use super::super::lacks::{self, Feature, Lacks, Needs};
use crate::ir::{Kernel, Stmt, walk};
use crate::soft::{self, Exact, Fused};
use crate::types::{Scalar, Type};

/// A Vulkan device's capabilities, as far as emitted code depends on them. All have 64-bit
/// integers, addresses of memory and Vulkan's memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// Capabilities that every dialect has a word for.
    pub base: lacks::Capabilities,
    /// Integers of 8 bits: computed with, and in memory.
    pub int8: bool,
    /// Integers and floats of 16 bits: computed with, and in memory.
    pub int16: bool,
    /// Atomic operations on 64 bits of local memory.
    pub local_atomics64: bool,
    /// Threads of a sub-group that a pipeline can be made to have: a power of two up to 128, or 1
    /// where kernels are to know no sub-groups. They need votes and shuffles, and a block of one
    /// row has them in the order of its threads.
    pub subgroup: u32,
    /// Of which floats it adds to memory of the device by one instruction, rounded correctly.
    /// Others are added by comparing and exchanging, and so are those in memory of groups.
    pub adds: Adds,
    /// Which operations the device rounds correctly.
    pub exact: Exact,
    /// Whose `mul_add` has an instruction of its own (`VK_KHR_shader_fma`). That of others, where
    /// [`exact`](Self::exact) says that it rounds once, is GLSL's.
    pub fma: Fused,
    /// Promises to ask of its floats.
    pub controls: Controls,
    /// The compiler takes products with zero for zero, whatever the other is, and differences of
    /// equal numbers: what is computed with is hidden from it. So does lavapipe.
    pub hides: bool,
    /// Turns after which the driver ends all loops of an item, without a word. Kernels look
    /// whether it has. None if loops go on.
    pub turns: Option<u32>,
}

/// Types of floats that a device adds atomically (`VK_EXT_shader_atomic_float`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Adds {
    /// Of `f32`.
    pub f32: bool,
    /// Of `f64`.
    pub f64: bool,
}

/// The promises that a device makes of its floats when a kernel asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Controls {
    /// Of `f32`.
    pub f32: Control,
    /// Of `f64`.
    pub f64: Control,
}

/// The promises that a device makes of floats of a width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Control {
    /// Signs of zeros, infinities and NaN are kept.
    pub zeros: bool,
    /// Results are rounded to nearest, ties to even.
    pub nearest: bool,
    /// Denormals are kept.
    pub denormals: bool,
}

impl Capabilities {
    /// A device with everything that validators of 2023 know, for tests: not with
    /// `VK_KHR_shader_fma`.
    pub const ALL: Capabilities = Capabilities {
        base: lacks::Capabilities::CUDA,
        int8: true,
        int16: true,
        local_atomics64: true,
        subgroup: 128,
        adds: Adds { f32: true, f64: true },
        exact: Exact::ALL,
        fma: Fused::NONE,
        controls: Controls {
            f32: Control { zeros: true, nearest: true, denormals: true },
            f64: Control { zeros: true, nearest: true, denormals: true },
        },
        hides: false,
        turns: None,
    };

    /// Fails if the device lacks one of a kernel's needs, as its source has it.
    pub(super) fn check(&self, kernel: &Kernel, needs: &Needs) -> Result<(), Lacks> {
        needs.check(kernel, &self.base)?;
        let lacks =
            |feature, place: String| Err(Lacks { kernel: kernel.name.clone(), feature, place });
        let wanted = [
            (self.int8, &[Scalar::I8, Scalar::U8][..], Feature::Int8),
            (self.int16, &[Scalar::I16, Scalar::U16, Scalar::F16, Scalar::Bf16], Feature::Int16),
        ];
        for (_, scalars, feature) in wanted.into_iter().filter(|(there, ..)| !there) {
            if let Some(place) = first_of(kernel, scalars) {
                return lacks(feature, place);
            }
        }
        let (mut widened, mut local) = (None, None);
        walk(&kernel.body, &mut |stmt| {
            let Stmt::Let(define) = stmt else { return };
            if let Some(function) = soft::widens(kernel, &define.op) {
                widened.get_or_insert_with(|| (function, lacks::place(kernel, define)));
            }
            if lacks::is_local_atomic64(kernel, define) {
                local.get_or_insert_with(|| lacks::place(kernel, define));
            }
        });
        match (widened, local) {
            (Some((function, place)), _) if !self.base.f64 => {
                lacks(Feature::Widened(function), place)
            }
            (_, Some(place)) if !self.local_atomics64 => lacks(Feature::LocalAtomics64, place),
            _ => Ok(()),
        }
    }
}

/// Where one of these is first.
fn first_of(kernel: &Kernel, scalars: &[Scalar]) -> Option<String> {
    let has = |ty: Type| scalars.iter().any(|scalar| lacks::has(&kernel.types, ty, *scalar));
    let params = kernel.params.iter().find(|param| {
        let ty = match param.kind {
            crate::ir::ParamKind::Scalar(ty) => ty,
            crate::ir::ParamKind::View { element, .. }
            | crate::ir::ParamKind::Reduce { element, .. }
            | crate::ir::ParamKind::Local { element, .. } => element,
        };
        has(ty)
    });
    if let Some(param) = params {
        return Some(format!("parameter `{}`", param.name));
    }
    if let Some(var) = kernel.vars.iter().find(|var| has(var.ty)) {
        return Some(format!("variable `{}`", var.name));
    }
    let value = kernel.values.iter().position(|ty| has(*ty));
    value.map(|value| format!("value %{value}"))
}
