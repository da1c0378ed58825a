//! Capabilities of devices, and needs of kernels that a device lacks.

use super::abi::LANES;
use crate::ir::{Kernel, Let, ParamKind, Root, Stmt, walk};
use crate::op::Op;
use crate::types::{Composite, Scalar, Type, Types};

/// A device's capabilities, as far as emitted code depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// `f64`.
    pub f64: bool,
    /// Atomic operations on 64 bits: all of semantics 9.1.
    pub atomics64: bool,
    /// Bytes of local memory that a group can have.
    pub local_memory: u64,
    /// Bytes of arguments that an entry can have by value.
    pub argument_bytes: u32,
    /// Most threads of a block.
    pub block: u32,
    /// Bytes of local memory that a group can have where it multiplies by matrix units; 0 without
    /// these.
    pub units: u32,
}

impl Capabilities {
    /// Capabilities that every OpenCL device of the full profile has, and the 256 threads of a
    /// block that nearly all have.
    pub const LEAST: Capabilities = Capabilities {
        f64: false,
        atomics64: false,
        local_memory: 32 << 10,
        argument_bytes: 1024,
        block: 256,
        units: 0,
    };

    /// Capabilities of every GPU that CUDA 12 supports.
    pub const CUDA: Capabilities = Capabilities {
        f64: true,
        atomics64: true,
        local_memory: 48 << 10,
        argument_bytes: 4096,
        block: 1024,
        units: 0,
    };
}

/// Something that not all devices can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Feature {
    /// `f64`.
    #[error("`f64`")]
    F64,
    /// Atomic operations on 64 bits.
    #[error("atomic operations on 64 bits")]
    Atomics64,
    /// More local memory than there is.
    #[error("{needed} bytes of local memory (the device has {available})")]
    LocalMemory {
        /// Bytes asked for.
        needed: u64,
        /// Bytes that there are.
        available: u64,
    },
    /// Integers of 8 bits.
    #[error("integers of 8 bits")]
    Int8,
    /// Integers, or floats, of 16 bits.
    #[error("numbers of 16 bits")]
    Int16,
    /// Atomic operations on 64 bits of local memory.
    #[error("atomic operations on 64 bits of local memory")]
    LocalAtomics64,
    /// `f64`, in which a function of `f32` is computed.
    #[error("`f64`, in which `{0}` is computed")]
    Widened(&'static str),
    /// Elements or arguments without bytes.
    #[error("elements of no bytes")]
    Empty,
}

/// A kernel needs something that the device does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}` needs {feature}, which the device lacks: {place}")]
pub struct Lacks {
    /// The kernel's name.
    pub kernel: String,
    /// The feature that the device lacks.
    pub feature: Feature,
    /// Where it needs that: a parameter, a variable, or a place in the source.
    pub place: String,
}

/// True if a type has something in it.
pub fn has(types: &Types, ty: Type, wanted: Scalar) -> bool {
    match (ty, types.get(ty)) {
        (Type::Scalar(scalar), _) => scalar == wanted,
        (_, Some(Composite::Array { element, .. })) => has(types, *element, wanted),
        (_, Some(Composite::Struct(s))) => s.fields.iter().any(|f| has(types, f.ty, wanted)),
        (_, None) => false,
    }
}

/// Bytes of a value that compilers keep in registers.
const IN_REGISTERS: u64 = 64;

/// A kernel's needs, and where each is first.
#[derive(Default)]
pub struct Needs {
    /// Somewhere there is an `f64`.
    pub f64: Option<String>,
    /// Which of the kernel's structs and arrays there are anywhere, for each.
    pub composites: Vec<bool>,
    /// Somewhere 64 bits are changed atomically.
    pub atomics64: Option<String>,
    /// Bytes of local memory.
    pub local: u64,
    /// Bytes of an item's variables, and of values that no compiler has in registers.
    pub private: u64,
    /// A parameter without bytes.
    empty: Option<String>,
}

impl Needs {
    /// Of a verified kernel.
    pub fn of(kernel: &Kernel) -> Needs {
        let composites = vec![false; kernel.types.all().len()];
        let mut needs = Needs { composites, ..Needs::default() };
        for param in &kernel.params {
            let place = || format!("parameter `{}`", param.name);
            let (ParamKind::Scalar(ty)
            | ParamKind::View { element: ty, .. }
            | ParamKind::Reduce { element: ty, .. }
            | ParamKind::Local { element: ty, .. }) = param.kind;
            needs.ty(kernel, ty, place);
            let size = kernel.types.layout(ty).0;
            if size == 0 {
                needs.empty.get_or_insert_with(place);
            }
            let elements = match param.kind {
                ParamKind::Local { len, .. } => u64::from(len),
                ParamKind::Reduce { .. } => u64::from(LANES),
                ParamKind::Scalar(_) | ParamKind::View { .. } => 0,
            };
            // Each array begins where any type can.
            let bytes = size.saturating_mul(elements).next_multiple_of(8);
            needs.local = needs.local.saturating_add(bytes);
        }
        for var in &kernel.vars {
            needs.ty(kernel, var.ty, || format!("variable `{}`", var.name));
            needs.private = needs.private.saturating_add(kernel.types.layout(var.ty).0);
        }
        walk(&kernel.body, &mut |stmt| {
            let Stmt::Let(define) = stmt else { return };
            let ty = kernel.type_of(define.value).unwrap_or(Scalar::U64.into());
            needs.ty(kernel, ty, || place(kernel, define));
            let bytes = kernel.types.layout(ty).0;
            if bytes > IN_REGISTERS {
                needs.private = needs.private.saturating_add(bytes);
            }
            let wide = ty.scalar().is_some_and(|scalar| scalar.bits() == 64);
            if wide && matches!(define.op, Op::Atomic(..)) {
                needs.atomics64.get_or_insert_with(|| place(kernel, define));
            }
        });
        needs
    }

    /// There is a value of a type, with all that is in it.
    fn ty(&mut self, kernel: &Kernel, ty: Type, place: impl FnOnce() -> String) {
        if has(&kernel.types, ty, Scalar::F64) {
            self.f64.get_or_insert_with(place);
        }
        self.declare(kernel, ty);
    }

    fn declare(&mut self, kernel: &Kernel, ty: Type) {
        let Type::Composite(at) = ty else { return };
        match self.composites.get_mut(at as usize) {
            Some(declared) if !*declared => *declared = true,
            _ => return,
        }
        match kernel.types.get(ty) {
            Some(Composite::Array { element, .. }) => self.declare(kernel, *element),
            Some(Composite::Struct(s)) => {
                s.fields.iter().for_each(|field| self.declare(kernel, field.ty));
            }
            None => {}
        }
    }

    /// Nothing is missing on such a device.
    pub fn check(&self, kernel: &Kernel, caps: &Capabilities) -> Result<(), Lacks> {
        let lacks = |feature, place: &str| {
            Err(Lacks { kernel: kernel.name.clone(), feature, place: place.to_owned() })
        };
        match (&self.empty, &self.f64, &self.atomics64) {
            (Some(place), ..) => lacks(Feature::Empty, place),
            (_, Some(place), _) if !caps.f64 => lacks(Feature::F64, place),
            (.., Some(place)) if !caps.atomics64 => lacks(Feature::Atomics64, place),
            _ if self.local > caps.local_memory => {
                let (needed, available) = (self.local, caps.local_memory);
                lacks(Feature::LocalMemory { needed, available }, "its local arrays and reductions")
            }
            _ => Ok(()),
        }
    }
}

/// 64 bits of local memory are changed atomically.
#[cfg(feature = "spirv")]
pub(super) fn is_local_atomic64(kernel: &Kernel, define: &Let) -> bool {
    let Op::Atomic(_, place, _) = &define.op else { return false };
    let Root::Element(param, _) = place.root else { return false };
    let local = kernel.params.get(param.index()).map(|param| &param.kind);
    let wide = kernel.type_of(define.value).and_then(Type::scalar);
    matches!(local, Some(ParamKind::Local { .. })) && wide.is_some_and(|wide| wide.bits() == 64)
}

pub(super) fn place(kernel: &Kernel, define: &Let) -> String {
    let site = define.site.and_then(|site| kernel.sites.get(site.index()));
    if let Some(site) = site {
        return format!("{}:{}:{}", site.file, site.line, site.column);
    }
    match define.op.place().map(|place| &place.root) {
        Some(Root::Element(param, _)) => {
            let name = kernel.params.get(param.index()).map_or("", |p| p.name.as_str());
            format!("parameter `{name}`")
        }
        Some(Root::Var(_)) => "a variable".to_owned(),
        None => format!("value %{}", define.value.0),
    }
}
