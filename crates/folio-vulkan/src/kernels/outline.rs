//! The outline of a module of SPIR-V, as far as a driver believes it unseen: where its instructions
//! end, what it needs, and how its entries are called. Looked at before the driver is given the
//! module. The bodies of its functions are not: the program that made the
//! [`Image`](folio_core::hal::Image) says that a compiler made them.

use folio_kernel::emit::spirv::Adds;
use rspirv::spirv::{Capability, ExecutionModel, StorageClass};
use std::collections::HashMap;

/// The first word of a module.
const MAGIC: u32 = 0x0723_0203;
/// Its head, in words.
const HEAD: usize = 5;
/// The latest version that Vulkan 1.3 takes: 1.6.
const LATEST: u32 = 0x0001_0600;
/// More ids than a module may have: the limit is SPIR-V's own.
const IDS: u32 = 1 << 22;

/// Numbers of SPIR-V's instructions and decorations.
mod code {
    pub(super) const MEMORY_MODEL: u32 = 14;
    pub(super) const ENTRY_POINT: u32 = 15;
    pub(super) const EXECUTION_MODE: u32 = 16;
    pub(super) const CAPABILITY: u32 = 17;
    pub(super) const TYPE_INT: u32 = 21;
    pub(super) const TYPE_FLOAT: u32 = 22;
    pub(super) const TYPE_VECTOR: u32 = 23;
    pub(super) const TYPE_ARRAY: u32 = 28;
    pub(super) const TYPE_STRUCT: u32 = 30;
    pub(super) const TYPE_POINTER: u32 = 32;
    pub(super) const FORWARD_POINTER: u32 = 39;
    pub(super) const CONSTANT: u32 = 43;
    pub(super) const FUNCTION: u32 = 54;
    pub(super) const FUNCTION_END: u32 = 56;
    pub(super) const VARIABLE: u32 = 59;
    pub(super) const DECORATE: u32 = 71;
    pub(super) const MEMBER_DECORATE: u32 = 72;
    /// A mode of execution: threads of a group as literals.
    pub(super) const LOCAL_SIZE: u32 = 17;
    /// Decorations, and a built-in.
    pub(super) const ARRAY_STRIDE: u32 = 6;
    pub(super) const BUILT_IN: u32 = 11;
    pub(super) const OFFSET: u32 = 35;
    pub(super) const WORKGROUP_SIZE: u32 = 25;
    /// Addresses that Vulkan knows, and its two models of memory.
    pub(super) const PHYSICAL_STORAGE_BUFFER: u32 = 5348;
    pub(super) const MODELS: [u32; 2] = [1, 3];
}

/// A device's features for modules: those that `vkCreateDevice` was asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offered {
    pub(crate) f16: bool,
    pub(crate) f64: bool,
    pub(crate) int8: bool,
    pub(crate) int16: bool,
    pub(crate) memory8: bool,
    pub(crate) memory16: bool,
    pub(crate) atomics64: bool,
    pub(crate) fused: bool,
    pub(crate) device_scope: bool,
    pub(crate) variable_pointers: [bool; 2],
    pub(crate) adds: Adds,
    pub(crate) subgroups: ash::vk::SubgroupFeatureFlags,
    /// Of floats: denormals kept, and taken for zero; zeros with their signs; rounded to nearest,
    /// and toward zero.
    pub(crate) controls: [bool; 5],
}

impl Offered {
    /// Whether modules may declare a capability.
    fn has(&self, capability: u32) -> bool {
        use ash::vk::SubgroupFeatureFlags as Has;
        let Some(capability) = Capability::from_u32(capability) else { return false };
        let [kept, flushed, signs, nearest, toward_zero] = self.controls;
        let subgroups = |has| self.subgroups.contains(has);
        match capability {
            Capability::Matrix
            | Capability::Shader
            | Capability::Int64
            | Capability::PhysicalStorageBufferAddresses
            | Capability::VulkanMemoryModel => true,
            Capability::Float16 => self.f16,
            Capability::Float64 => self.f64,
            Capability::Int8 => self.int8,
            Capability::Int16 => self.int16,
            Capability::StorageBuffer8BitAccess => self.memory8,
            Capability::StorageBuffer16BitAccess => self.memory16,
            Capability::Int64Atomics => self.atomics64,
            Capability::AtomicFloat32AddEXT => self.adds.f32,
            Capability::AtomicFloat64AddEXT => self.adds.f64,
            Capability::FMAKHR => self.fused,
            Capability::VulkanMemoryModelDeviceScope => self.device_scope,
            Capability::VariablePointersStorageBuffer => self.variable_pointers[0],
            Capability::VariablePointers => self.variable_pointers[1],
            Capability::GroupNonUniform => subgroups(Has::BASIC),
            Capability::GroupNonUniformVote => subgroups(Has::VOTE),
            Capability::GroupNonUniformArithmetic => subgroups(Has::ARITHMETIC),
            Capability::GroupNonUniformBallot => subgroups(Has::BALLOT),
            Capability::GroupNonUniformShuffle => subgroups(Has::SHUFFLE),
            Capability::GroupNonUniformShuffleRelative => subgroups(Has::SHUFFLE_RELATIVE),
            Capability::GroupNonUniformClustered => subgroups(Has::CLUSTERED),
            Capability::GroupNonUniformQuad => subgroups(Has::QUAD),
            Capability::DenormPreserve => kept,
            Capability::DenormFlushToZero => flushed,
            Capability::SignedZeroInfNanPreserve => signs,
            Capability::RoundingModeRTE => nearest,
            Capability::RoundingModeRTZ => toward_zero,
            _ => false,
        }
    }
}

/// The faults of a module.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// No module, or a module that Folio cannot call.
    Module(String),
    /// The device lacks something.
    Device(String),
}

/// How an entry is called.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Bytes of its arguments, as far as the module says: it reads no further.
    pub(crate) arguments: Option<u64>,
    /// Threads of a group along x, y and z, where the module has them as literals.
    pub(crate) threads: Option<[u32; 3]>,
}

/// An entry point: its model, its id, its name, and the variables that it uses.
struct Named {
    model: u32,
    id: u32,
    name: String,
    interface: Vec<u32>,
}

#[derive(Default)]
struct Outline {
    version: u32,
    entries: Vec<Named>,
    capabilities: Vec<u32>,
    models: Vec<[u32; 2]>,
    /// Bytes of the types of which that is known.
    bytes: HashMap<u32, u64>,
    /// By type: the class, and what it points to.
    pointers: HashMap<u32, [u32; 2]>,
    /// First members of structs.
    firsts: HashMap<u32, u32>,
    constants: HashMap<u32, u32>,
    /// By type and member.
    offsets: HashMap<(u32, u32), u32>,
    strides: HashMap<u32, u32>,
    /// By id: its type and its class.
    variables: Vec<(u32, [u32; 2])>,
    /// By entry.
    sizes: HashMap<u32, [u32; 3]>,
    /// Threads of a group are those of a constant.
    has_size: bool,
    functions: Vec<u32>,
    /// How many of them have ended.
    ended: usize,
}

fn module(why: impl Into<String>) -> Wrong {
    Wrong::Module(why.into())
}

/// How the entry of this name is called, or why the module is not for the driver.
pub(crate) fn entry(
    bytes: &[u8],
    name: &str,
    offered: &Offered,
) -> Result<(Vec<u32>, Entry), Wrong> {
    let (words, rest) = bytes.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    if !rest.is_empty() {
        return Err(module(format!("{} bytes are no whole words: no SPIR-V", bytes.len())));
    }
    let outline = Outline::of(&words)?;
    let named = || outline.entries.iter().filter(|entry| entry.name == name);
    let compute = ExecutionModel::GLCompute as u32;
    let Some(own) = named().find(|entry| entry.model == compute) else {
        let all: Vec<&str> = outline.entries.iter().map(|entry| entry.name.as_str()).collect();
        return Err(module(match named().next() {
            Some(_) => "this entry does not compute".to_owned(),
            None => format!("there is no such entry; there are {all:?}"),
        }));
    };
    if let Some(wrong) = outline.models.iter().find(|[addressing, model]| {
        *addressing != code::PHYSICAL_STORAGE_BUFFER || !code::MODELS.contains(model)
    }) {
        return Err(module(format!("memory by the models {wrong:?}, which are not Vulkan's")));
    }
    if outline.models.len() != 1 {
        return Err(module("one model of memory is needed"));
    }
    if let Some(lacks) = outline.capabilities.iter().find(|needed| !offered.has(**needed)) {
        let named = Capability::from_u32(*lacks);
        let named = named.map_or_else(|| lacks.to_string(), |known| format!("{known:?}"));
        return Err(Wrong::Device(format!("the capability {named} of SPIR-V")));
    }
    outline.called(own).map(|entry| (words, entry))
}

impl Outline {
    fn of(words: &[u32]) -> Result<Outline, Wrong> {
        let [magic, version, _, bound, schema] = *words.get(..HEAD).unwrap_or_default() else {
            return Err(module("the code is no SPIR-V: it has no head"));
        };
        match magic {
            MAGIC => {}
            _ if magic == MAGIC.swap_bytes() => {
                return Err(module("the code is SPIR-V of the other byte order"));
            }
            _ => return Err(module("the code is no SPIR-V")),
        }
        if !(0x0001_0000..=LATEST).contains(&version) || version & 0xff != 0 {
            let [_, major, minor, _] = version.to_be_bytes();
            return Err(module(format!("SPIR-V {major}.{minor}; Vulkan 1.3 takes 1.0 to 1.6")));
        }
        if bound == 0 || bound > IDS || schema != 0 {
            return Err(module("the head of the module is damaged"));
        }
        let (mut outline, mut at) = (Outline { version, ..Outline::default() }, HEAD);
        while let Some(first) = words.get(at) {
            let (op, count) = (first & 0xffff, (first >> 16) as usize);
            let operands = words.get(at + 1..at + count);
            let damaged = || {
                module(format!(
                    "the instruction at word {at} of {} ends at word {}",
                    words.len(),
                    at + count
                ))
            };
            let operands = operands.ok_or_else(damaged)?;
            outline.note(op, operands).ok_or_else(|| {
                module(format!("the instruction at word {at} is too short for what it is"))
            })?;
            at += count;
            if !(outline.ended..=outline.ended + 1).contains(&outline.functions.len()) {
                return Err(module(format!("the function before word {at} does not end")));
            }
        }
        if outline.functions.len() != outline.ended {
            return Err(module("the last function does not end"));
        }
        Ok(outline)
    }

    /// Notes an instruction; nothing if it lacks operands.
    fn note(&mut self, op: u32, operands: &[u32]) -> Option<()> {
        let word = |at: usize| operands.get(at).copied();
        match op {
            code::CAPABILITY => self.capabilities.push(word(0)?),
            code::MEMORY_MODEL => self.models.push([word(0)?, word(1)?]),
            code::ENTRY_POINT => {
                let (name, after) = text(operands.get(2..)?)?;
                let interface = operands.get(2 + after..)?.to_vec();
                self.entries.push(Named { model: word(0)?, id: word(1)?, name, interface });
            }
            code::EXECUTION_MODE if word(1)? == code::LOCAL_SIZE => {
                self.sizes.insert(word(0)?, [word(2)?, word(3)?, word(4)?]);
            }
            // Parts of types, and their decorations, come before them.
            code::TYPE_INT | code::TYPE_FLOAT => {
                self.bytes.insert(word(0)?, u64::from(word(1)?) / 8);
            }
            code::TYPE_VECTOR => {
                let of = self.bytes.get(&word(1)?).copied();
                let all = u64::from(word(2)?);
                self.sized(word(0)?, of.and_then(|of| of.checked_mul(all)));
            }
            code::TYPE_ARRAY => {
                let stride = self.strides.get(&word(0)?).copied();
                let count = self.constants.get(&word(2)?).copied();
                let all = stride.zip(count).map(|(a, b)| u64::from(a) * u64::from(b));
                self.sized(word(0)?, all);
            }
            code::TYPE_STRUCT => {
                let (own, members) = (word(0)?, operands.get(1..)?);
                let ends = (0..).zip(members).try_fold(0, |most: u64, (at, member)| {
                    let from = u64::from(*self.offsets.get(&(own, at))?);
                    Some(most.max(from.checked_add(*self.bytes.get(member)?)?))
                });
                self.sized(own, ends);
                self.firsts.extend(members.first().map(|first| (own, *first)));
            }
            code::TYPE_POINTER => {
                self.bytes.insert(word(0)?, 8);
                self.pointers.insert(word(0)?, [word(1)?, word(2)?]);
            }
            code::FORWARD_POINTER => {
                self.bytes.insert(word(0)?, 8);
            }
            code::CONSTANT => {
                self.constants.insert(word(1)?, word(2)?);
            }
            code::VARIABLE => self.variables.push((word(1)?, [word(0)?, word(2)?])),
            code::FUNCTION => self.functions.push(word(1)?),
            code::FUNCTION_END => self.ended += 1,
            code::DECORATE => match word(1)? {
                code::ARRAY_STRIDE => {
                    self.strides.insert(word(0)?, word(2)?);
                }
                code::BUILT_IN => self.has_size |= word(2)? == code::WORKGROUP_SIZE,
                _ => {}
            },
            code::MEMBER_DECORATE if word(2)? == code::OFFSET => {
                self.offsets.insert((word(0)?, word(1)?), word(3)?);
            }
            _ => {}
        }
        Some(())
    }

    fn sized(&mut self, ty: u32, bytes: Option<u64>) {
        self.bytes.extend(bytes.map(|bytes| (ty, bytes)));
    }

    /// The type behind a pointer.
    fn behind(&self, pointer: u32, class: StorageClass) -> Option<u32> {
        let [own, to] = self.pointers.get(&pointer)?;
        (*own == class as u32).then_some(*to)
    }

    /// How an entry is called: one address is passed, that of its arguments.
    fn called(&self, entry: &Named) -> Result<Entry, Wrong> {
        if !self.functions.contains(&entry.id) {
            return Err(module("the entry is no function of the module"));
        }
        // Before SPIR-V 1.4 entries do not name all that they use.
        let uses = |id: u32| match self.version >= 0x0001_0400 {
            true => entry.interface.contains(&id),
            false => self.entries.len() == 1,
        };
        let mut made = Entry::default();
        if !self.has_size {
            made.threads = self.sizes.get(&entry.id).copied();
        }
        for (_, [ty, class]) in self.variables.iter().filter(|(id, _)| uses(*id)) {
            let class = StorageClass::from_u32(*class);
            match class {
                Some(
                    StorageClass::Uniform
                    | StorageClass::UniformConstant
                    | StorageClass::StorageBuffer
                    | StorageClass::Image
                    | StorageClass::AtomicCounter,
                ) => {
                    let class = class.map_or_else(String::new, |class| format!("{class:?}"));
                    return Err(module(format!(
                        "a variable of the class {class}, which a descriptor is for; arguments \
                         are passed by their address"
                    )));
                }
                Some(StorageClass::PushConstant) => {
                    let own = self.behind(*ty, StorageClass::PushConstant);
                    if let Some(bytes) = own.and_then(|own| self.bytes.get(&own))
                        && *bytes > 8
                    {
                        return Err(module(format!(
                            "push constants of {bytes} bytes; they are one address of 8"
                        )));
                    }
                    made.arguments = own.and_then(|own| self.arguments(own));
                }
                _ => {}
            }
        }
        Ok(made)
    }

    /// Bytes behind the one address of the push constants.
    fn arguments(&self, push: u32) -> Option<u64> {
        let first = self.firsts.get(&push)?;
        let block = self.behind(*first, StorageClass::PhysicalStorageBuffer)?;
        self.bytes.get(&block).copied()
    }
}

/// A name, and how many words it takes; nothing if it does not end.
fn text(words: &[u32]) -> Option<(String, usize)> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((String::from_utf8_lossy(&bytes[..end]).into_owned(), end / 4 + 1))
}
