//! A module of SPIR-V in the making: its sections, types and constants entered once, and the
//! instructions of the function that is being written.

use super::Controls;
use crate::types::Scalar;
use rspirv::binary::Assemble;
use rspirv::dr::{Instruction, ModuleHeader, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel,
    FunctionControl, LoopControl, MemoryModel, Op, StorageClass, Word,
};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A word that others refer to as an operand.
pub fn id(word: Word) -> Operand {
    Operand::IdRef(word)
}

pub fn literal(word: u32) -> Operand {
    Operand::LiteralBit32(word)
}

/// A module in the making.
#[derive(Default)]
pub struct Assembly {
    last: Word,
    capabilities: BTreeSet<u32>,
    glsl: Option<Word>,
    entries: Vec<Instruction>,
    modes: Vec<Instruction>,
    names: Vec<Instruction>,
    decorations: Vec<Instruction>,
    globals: Vec<Instruction>,
    functions: Vec<Instruction>,
    known: HashMap<(Op, Word, Vec<Operand>), Word>,
    builtins: HashMap<u32, Word>,
    /// Literals of floats that are the negative zero.
    negative_zeros: BTreeSet<Word>,
    /// Words that come from memory of groups or of the device, so that no compiler knows them.
    varying: HashSet<Word>,
    /// Of what is the bits of something else: that, and its type.
    origins: HashMap<Word, (Word, Word)>,
    /// The code that is being written.
    pub code: Vec<Instruction>,
    /// The label of its last block.
    pub block: Word,
}

impl Assembly {
    pub fn id(&mut self) -> Word {
        self.last += 1;
        self.last
    }

    pub fn needs(&mut self, capability: Capability) {
        self.capabilities.insert(capability as u32);
    }

    /// Something outside of functions that is there once.
    pub fn global(&mut self, op: Op, ty: Option<Word>, operands: Vec<Operand>) -> Word {
        let key = (op, ty.unwrap_or(0), operands);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let own = self.id();
        self.globals.push(Instruction::new(op, ty, Some(own), key.2.clone()));
        self.known.insert(key, own);
        own
    }

    /// The same where each is another.
    pub fn another(&mut self, op: Op, ty: Option<Word>, operands: Vec<Operand>) -> Word {
        let own = self.id();
        self.globals.push(Instruction::new(op, ty, Some(own), operands));
        own
    }

    pub fn decorate(&mut self, target: Word, decoration: Decoration, more: Vec<Operand>) {
        let mut operands = vec![id(target), Operand::Decoration(decoration)];
        operands.extend(more);
        self.decorations.push(Instruction::new(Op::Decorate, None, None, operands));
    }

    fn decorate_member(&mut self, target: Word, member: u32, offset: u32) {
        let operands = vec![
            id(target),
            literal(member),
            Operand::Decoration(Decoration::Offset),
            literal(offset),
        ];
        self.decorations.push(Instruction::new(Op::MemberDecorate, None, None, operands));
    }

    pub fn name(&mut self, target: Word, name: &str) {
        let operands = vec![id(target), Operand::LiteralString(name.to_owned())];
        self.names.push(Instruction::new(Op::Name, None, None, operands));
    }

    // Types.

    pub fn void(&mut self) -> Word {
        self.global(Op::TypeVoid, None, vec![])
    }

    pub fn bool(&mut self) -> Word {
        self.global(Op::TypeBool, None, vec![])
    }

    /// An integer type; signs are a matter of operations.
    pub fn int(&mut self, bits: u32) -> Word {
        match bits {
            8 => self.needs(Capability::Int8),
            16 => self.needs(Capability::Int16),
            64 => self.needs(Capability::Int64),
            _ => {}
        }
        self.global(Op::TypeInt, None, vec![literal(bits), literal(0)])
    }

    pub fn float(&mut self, bits: u32) -> Word {
        if bits == 64 {
            self.needs(Capability::Float64);
        }
        self.global(Op::TypeFloat, None, vec![literal(bits)])
    }

    /// A scalar's type where it is computed with; numbers of 16 bits are their bits.
    pub fn scalar(&mut self, scalar: Scalar) -> Word {
        match scalar {
            Scalar::Bool => self.bool(),
            Scalar::F32 | Scalar::F64 => self.float(scalar.bits()),
            _ => self.int(scalar.bits()),
        }
    }

    /// A scalar's type in memory of groups and of devices: unsigned integers.
    pub fn stored(&mut self, scalar: Scalar) -> Word {
        match scalar {
            Scalar::Bool => self.int(32),
            _ => self.int(scalar.bits()),
        }
    }

    pub fn pointer(&mut self, class: StorageClass, to: Word) -> Word {
        self.global(Op::TypePointer, None, vec![Operand::StorageClass(class), id(to)])
    }

    /// A pointer to an integer in memory of the device.
    pub fn device_pointer(&mut self, bits: u32) -> Word {
        match bits {
            8 => self.needs(Capability::StorageBuffer8BitAccess),
            16 => self.needs(Capability::StorageBuffer16BitAccess),
            _ => {}
        }
        let to = self.int(bits);
        self.pointer(StorageClass::PhysicalStorageBuffer, to)
    }

    pub fn array(&mut self, of: Word, len: Word) -> Word {
        self.global(Op::TypeArray, None, vec![id(of), id(len)])
    }

    // Constants.

    pub fn constant(&mut self, scalar: Scalar, bits: u64) -> Word {
        let ty = self.scalar(scalar);
        if scalar == Scalar::Bool {
            let op = if bits & 1 == 1 { Op::ConstantTrue } else { Op::ConstantFalse };
            return self.global(op, Some(ty), vec![]);
        }
        let operand = match scalar.bits() {
            64 => Operand::LiteralBit64(bits),
            _ => literal(bits as u32 & scalar.mask() as u32),
        };
        let own = self.global(Op::Constant, Some(ty), vec![operand]);
        if scalar.is_float() && bits == 1 << (scalar.bits() - 1) {
            self.negative_zeros.insert(own);
        }
        own
    }

    /// A literal that is the negative zero.
    pub fn is_negative_zero(&self, word: Word) -> bool {
        self.negative_zeros.contains(&word)
    }

    pub fn u32(&mut self, number: u32) -> Word {
        self.constant(Scalar::U32, number.into())
    }

    pub fn u64(&mut self, number: u64) -> Word {
        self.constant(Scalar::U64, number)
    }

    pub fn null(&mut self, ty: Word) -> Word {
        self.global(Op::ConstantNull, Some(ty), vec![])
    }

    /// The number of threads of a block along an axis of the device: known when a pipeline is made.
    pub fn size(&mut self, axis: u32) -> Word {
        let ty = self.int(32);
        let key = (Op::SpecConstant, axis, vec![]);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let own = self.another(Op::SpecConstant, Some(ty), vec![literal(1)]);
        self.decorate(own, Decoration::SpecId, vec![literal(axis)]);
        self.known.insert(key, own);
        own
    }

    /// Threads of a block.
    pub fn threads(&mut self) -> Word {
        let ty = self.int(32);
        let [x, y, z] = [0, 1, 2].map(|axis| self.size(axis));
        let mut product = |a, b| {
            let operands = vec![Operand::LiteralSpecConstantOpInteger(Op::IMul), id(a), id(b)];
            self.global(Op::SpecConstantOp, Some(ty), operands)
        };
        let rows = product(x, y);
        product(rows, z)
    }

    /// Memory of a group: each call makes another.
    pub fn shared(&mut self, ty: Word) -> Word {
        let pointer = self.pointer(StorageClass::Workgroup, ty);
        let class = Operand::StorageClass(StorageClass::Workgroup);
        let own = self.another(Op::Variable, Some(pointer), vec![class]);
        self.varying.insert(own);
        own
    }

    /// A variable that tells where the thread is: three `u32`, or one that counts.
    pub fn builtin(&mut self, builtin: BuiltIn) -> Word {
        if let Some(known) = self.builtins.get(&(builtin as u32)) {
            return *known;
        }
        let word = self.int(32);
        let ty = match builtin {
            BuiltIn::LocalInvocationIndex => word,
            _ => self.global(Op::TypeVector, None, vec![id(word), literal(3)]),
        };
        let pointer = self.pointer(StorageClass::Input, ty);
        let class = Operand::StorageClass(StorageClass::Input);
        let own = self.another(Op::Variable, Some(pointer), vec![class]);
        self.decorate(own, Decoration::BuiltIn, vec![Operand::BuiltIn(builtin)]);
        self.builtins.insert(builtin as u32, own);
        self.varying.insert(own);
        own
    }

    /// The push constant: the address of the words of arguments.
    pub fn pushed(&mut self) -> Word {
        let key = (Op::Variable, 0, vec![]);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let word = self.int(64);
        let block = self.another(Op::TypeStruct, None, vec![id(word)]);
        self.decorate(block, Decoration::Block, vec![]);
        self.decorate_member(block, 0, 0);
        let pointer = self.pointer(StorageClass::PushConstant, block);
        let class = Operand::StorageClass(StorageClass::PushConstant);
        let own = self.another(Op::Variable, Some(pointer), vec![class]);
        self.varying.insert(own);
        self.known.insert(key, own);
        own
    }

    // Code.

    /// A compiler may find out what this is.
    pub fn may_be_known(&self, word: Word) -> bool {
        !self.varying.contains(&word)
    }

    pub fn op(&mut self, op: Op, ty: Word, operands: Vec<Operand>) -> Word {
        let own = self.id();
        let known = |operand: &Operand| match operand {
            Operand::IdRef(word) => !self.varying.contains(word),
            _ => true,
        };
        if !operands.iter().all(known) {
            self.varying.insert(own);
        }
        self.code.push(Instruction::new(op, Some(ty), Some(own), operands));
        if matches!(op, Op::FAdd | Op::FSub | Op::FMul | Op::FDiv) {
            self.decorate(own, Decoration::NoContraction, vec![]);
        }
        own
    }

    /// An operation that takes values only.
    pub fn of(&mut self, op: Op, ty: Word, values: &[Word]) -> Word {
        self.op(op, ty, values.iter().copied().map(id).collect())
    }

    /// The same bits as another type. Bits that were of that type before are what they were: where
    /// they only move no float is left, of which drivers may flush what is denormal.
    pub fn bitcast(&mut self, from: Word, value: Word, to: Word) -> Word {
        if let Some((origin, ty)) = self.origins.get(&value)
            && *ty == to
        {
            return *origin;
        }
        let own = self.of(Op::Bitcast, to, &[value]);
        self.origins.insert(own, (value, from));
        own
    }

    pub fn act(&mut self, op: Op, operands: Vec<Operand>) {
        self.code.push(Instruction::new(op, None, None, operands));
    }

    /// A function of GLSL. `Fma` that is not to be contracted is as exact as any other such.
    pub fn glsl(
        &mut self,
        function: rspirv::spirv::GlslStd450Op,
        ty: Word,
        values: &[Word],
    ) -> Word {
        let set = match self.glsl {
            Some(set) => set,
            None => {
                let set = self.id();
                self.glsl = Some(set);
                set
            }
        };
        let mut operands = vec![id(set), Operand::LiteralExtInstInteger(function as u32)];
        operands.extend(values.iter().copied().map(id));
        let own = self.op(Op::ExtInst, ty, operands);
        if function == rspirv::spirv::GlslStd450Op::Fma {
            self.decorate(own, Decoration::NoContraction, vec![]);
        }
        own
    }

    /// Begins a block.
    pub fn label(&mut self, label: Word) {
        self.code.push(Instruction::new(Op::Label, None, Some(label), vec![]));
        self.block = label;
    }

    pub fn branch(&mut self, to: Word) {
        self.act(Op::Branch, vec![id(to)]);
    }

    pub fn branch_if(&mut self, cond: Word, yes: Word, no: Word) {
        self.act(Op::BranchConditional, vec![id(cond), id(yes), id(no)]);
    }

    /// Announces where the ways of the branch that follows meet.
    pub fn selection(&mut self, merge: Word) {
        let control = Operand::SelectionControl(rspirv::spirv::SelectionControl::NONE);
        self.act(Op::SelectionMerge, vec![id(merge), control]);
    }

    pub fn repetition(&mut self, merge: Word, next: Word) {
        let control = Operand::LoopControl(LoopControl::NONE);
        self.act(Op::LoopMerge, vec![id(merge), id(next), control]);
    }

    /// Announces a loop of at most so many turns, which are to be joined.
    pub fn unrolled_repetition(&mut self, merge: Word, next: Word, turns: u32) {
        let control = Operand::LoopControl(LoopControl::UNROLL | LoopControl::PARTIAL_COUNT);
        self.act(Op::LoopMerge, vec![id(merge), id(next), control, literal(turns)]);
    }

    /// Begins a function: its parameters.
    pub fn function(&mut self, own: Word, of: &[Word]) -> Vec<Word> {
        let void = self.void();
        let mut operands = vec![id(void)];
        operands.extend(of.iter().copied().map(id));
        let ty = self.global(Op::TypeFunction, None, operands);
        let control = Operand::FunctionControl(FunctionControl::NONE);
        let operands = vec![control, id(ty)];
        self.functions.push(Instruction::new(Op::Function, Some(void), Some(own), operands));
        let mut parameter = |ty: &Word| {
            let own = self.id();
            let parameter = Instruction::new(Op::FunctionParameter, Some(*ty), Some(own), vec![]);
            self.functions.push(parameter);
            own
        };
        of.iter().map(&mut parameter).collect()
    }

    /// Ends it: its instructions, the first of which is a label.
    pub fn end_function(&mut self, code: Vec<Instruction>) {
        self.functions.extend(code);
        self.functions.push(Instruction::new(Op::FunctionEnd, None, None, vec![]));
    }

    /// A function becomes an entry that uses these variables. `in_rows`: its threads are all along
    /// the first axis.
    pub fn entry(&mut self, function: Word, name: &str, uses: &[Word], in_rows: bool) {
        let model = Operand::ExecutionModel(ExecutionModel::GLCompute);
        let mut operands = vec![model, id(function), Operand::LiteralString(name.to_owned())];
        let mut all: Vec<Word> = self.builtins.values().copied().collect();
        all.sort_unstable();
        all.push(self.pushed());
        operands.extend(all.iter().chain(uses).copied().map(id));
        self.entries.push(Instruction::new(Op::EntryPoint, None, None, operands));
        let sizes = match in_rows {
            true => [self.threads(), self.u32(1), self.u32(1)],
            false => [0, 1, 2].map(|axis| self.size(axis)),
        };
        let sizes = sizes.map(id);
        let mut operands = vec![id(function), Operand::ExecutionMode(ExecutionMode::LocalSizeId)];
        operands.extend(sizes);
        self.modes.push(Instruction::new(Op::ExecutionModeId, None, None, operands));
        self.name(function, name);
    }

    /// An entry computes with floats as these say, where there are such floats.
    pub fn controls(&mut self, function: Word, controls: &Controls) {
        for (bits, of) in [(32, &controls.f32), (64, &controls.f64)] {
            if bits == 64 && !self.capabilities.contains(&(Capability::Float64 as u32)) {
                continue;
            }
            let all = [
                (
                    of.zeros,
                    Capability::SignedZeroInfNanPreserve,
                    ExecutionMode::SignedZeroInfNanPreserve,
                ),
                (of.nearest, Capability::RoundingModeRTE, ExecutionMode::RoundingModeRTE),
                (of.denormals, Capability::DenormPreserve, ExecutionMode::DenormPreserve),
            ];
            for (_, capability, mode) in all.into_iter().filter(|(wanted, ..)| *wanted) {
                self.needs(capability);
                let operands = vec![id(function), Operand::ExecutionMode(mode), literal(bits)];
                self.modes.push(Instruction::new(Op::ExecutionMode, None, None, operands));
            }
        }
    }

    /// The module's words.
    pub fn finish(mut self) -> Vec<u32> {
        for always in [
            Capability::Shader,
            Capability::VulkanMemoryModel,
            Capability::PhysicalStorageBufferAddresses,
        ] {
            self.needs(always);
        }
        let mut words = vec![];
        let mut header = ModuleHeader::new(self.last + 1);
        header.set_version(1, 6);
        header.assemble_into(&mut words);
        for capability in &self.capabilities {
            // An instruction of one operand.
            words.extend([2 << 16 | Op::Capability as u32, *capability]);
        }
        let mut put = |instruction: &Instruction| instruction.assemble_into(&mut words);
        let extensions = [
            (&[Capability::FMAKHR][..], "SPV_KHR_fma"),
            (
                &[Capability::AtomicFloat32AddEXT, Capability::AtomicFloat64AddEXT],
                "SPV_EXT_shader_atomic_float_add",
            ),
        ];
        for (of, name) in extensions {
            if of.iter().any(|of| self.capabilities.contains(&(*of as u32))) {
                let name = vec![Operand::LiteralString(name.to_owned())];
                put(&Instruction::new(Op::Extension, None, None, name));
            }
        }
        if let Some(set) = self.glsl {
            let name = vec![Operand::LiteralString("GLSL.std.450".to_owned())];
            put(&Instruction::new(Op::ExtInstImport, None, Some(set), name));
        }
        let model = vec![
            Operand::AddressingModel(AddressingModel::PhysicalStorageBuffer64),
            Operand::MemoryModel(MemoryModel::Vulkan),
        ];
        put(&Instruction::new(Op::MemoryModel, None, None, model));
        for section in [
            &self.entries,
            &self.modes,
            &self.names,
            &self.decorations,
            &self.globals,
            &self.functions,
        ] {
            section.iter().for_each(&mut put);
        }
        words
    }
}
