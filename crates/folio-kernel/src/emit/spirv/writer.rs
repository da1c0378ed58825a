//! The writer of all parts of the emitter: code, and the declarations that the code needs.

use super::super::abi::{Fails, Point, Word as ArgumentWord, numbers};
use super::super::live;
use super::Form;
use super::assembly::{Assembly, id, literal};
use super::subgroup::uses_subgroups;
use super::turns::has_loops;
use crate::ir::{Kernel, Label, ParamId, SiteId, Value};
use crate::soft::{Exact, Fused};
use crate::types::{Composite, Scalar, Type};
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{MemoryAccess, Op, StorageClass, Word};
use std::collections::BTreeSet;

/// A kernel that is being written.
pub struct Writer<'k> {
    pub kernel: &'k Kernel,
    pub form: Form,
    pub exact: Exact,
    /// Whose `mul_add` has an instruction of its own.
    pub fma: Fused,
    /// Which floats are added atomically.
    pub adds: super::Adds,
    /// Threads of a sub-group.
    pub width: u32,
    /// A block is a row of threads along the device's first axis, whatever its shape, so that
    /// sub-groups are pieces of it.
    pub in_rows: bool,
    /// See [`Capabilities::hides`](super::Capabilities::hides).
    hides: bool,
    /// Turns after which the driver ends loops, if the kernel has loops and the driver does.
    pub turn_limit: Option<u32>,
    /// A zero that no compiler knows, as `u64`.
    hidden: Option<Word>,
    pub asm: Assembly,
    /// The type of each value; others than the kernel's while two are combined.
    pub values: Vec<Type>,
    /// By value: what it is in the module, and its bits if it is a literal.
    ids: Vec<Option<Word>>,
    pub literals: Vec<Option<u64>>,
    /// By value: it is used.
    pub live: Vec<bool>,
    /// The label behind what is computed first.
    body: Word,
    /// Variables of the function.
    locals: Vec<Instruction>,
    /// Code at the beginning of the function.
    first: Vec<Instruction>,
    /// By variable of the kernel: the pointer.
    pub vars: Vec<Option<Word>>,
    /// By parameter: memory of the group, or the address of the element with the indices 0.
    pub bases: Vec<Option<Word>>,
    /// Variables of the module that the entry uses.
    pub uses: Vec<Word>,
    pub words: Vec<(ArgumentWord, Word)>,
    /// Two words of the block each, by half their place there.
    pairs: Vec<(u64, Word)>,
    pub numbers: Vec<u32>,
    pub points: Vec<Point>,
    /// Where the positions of items are, and when they are the thread's.
    pub positions: Vec<Option<Word>>,
    /// By parameter: what the thread contributes to a reduction, a variable.
    pub own: Vec<Option<Word>>,
    /// Parameters that are memory in the order of their addresses in the block.
    pub pointers: Vec<ParamId>,
    pub open: Vec<Open>,
    /// The turns of a loop that are written down one after the other.
    pub turns: Option<super::stride::InTurns>,
    /// Which loop or block is being left: a variable.
    pub leave: Option<Word>,
    /// Values that groups combine, 64 bits for each thread.
    pub scratch: Option<Word>,
    block: Option<Word>,
    record: Option<Word>,
    /// The functions that note failures.
    pub functions: super::fails::Functions,
}

/// A loop, or a block, that is open.
pub struct Open {
    /// None: what `return` leaves.
    pub label: Option<Label>,
    pub merge: Word,
    /// Where the next turn begins; none for a block.
    pub next: Option<Word>,
    /// Its end is reached by a way out.
    pub left: bool,
    /// Ways out that lead further: which loop or block by its depth, and whether to its next turn.
    pub passes: BTreeSet<(usize, bool)>,
}

impl<'k> Writer<'k> {
    pub fn new(kernel: &'k Kernel, form: Form, caps: &super::Capabilities) -> Writer<'k> {
        let is_memory = |at: &ParamId| {
            let kind = kernel.params.get(at.index()).map(|param| &param.kind);
            use crate::ir::ParamKind::{Reduce, View};
            matches!(kind, Some(View { .. } | Reduce { .. }))
        };
        Writer {
            kernel,
            form,
            exact: caps.exact,
            fma: caps.fma,
            adds: caps.adds,
            width: caps.subgroup.max(1),
            in_rows: caps.subgroup > 1 && uses_subgroups(kernel),
            hides: caps.hides,
            turn_limit: caps.turns.filter(|_| has_loops(&kernel.body)),
            hidden: None,
            asm: Assembly::default(),
            values: kernel.values.clone(),
            ids: vec![None; kernel.values.len()],
            literals: vec![None; kernel.values.len()],
            live: live::values(kernel, form.checked),
            body: 0,
            locals: vec![],
            first: vec![],
            vars: vec![None; kernel.vars.len()],
            bases: vec![None; kernel.params.len()],
            uses: vec![],
            words: vec![],
            pairs: vec![],
            numbers: numbers(kernel),
            points: vec![],
            positions: vec![None; 3],
            own: vec![None; kernel.params.len()],
            pointers: (0..kernel.params.len() as u32).map(ParamId).filter(is_memory).collect(),
            open: vec![],
            turns: None,
            leave: None,
            scratch: None,
            block: None,
            record: None,
            functions: super::fails::Functions::default(),
        }
    }

    /// Writes what is computed once, when the function begins.
    pub fn first<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        std::mem::swap(&mut self.first, &mut self.asm.code);
        let result = write(self);
        std::mem::swap(&mut self.first, &mut self.asm.code);
        result
    }

    /// Begins a function's code, behind what is computed first.
    pub fn begin_function(&mut self) {
        self.body = self.asm.id();
        let body = self.body;
        self.asm.label(body);
    }

    /// The function's code: its variables, what is computed first, and the rest.
    pub fn take_function(&mut self) -> Vec<Instruction> {
        let start = self.asm.id();
        let mut all = vec![Instruction::new(Op::Label, None, Some(start), vec![])];
        all.append(&mut self.locals);
        all.append(&mut self.first);
        let body = vec![id(self.body)];
        all.push(Instruction::new(Op::Branch, None, None, body));
        all.append(&mut self.asm.code);
        all
    }

    // Values.

    pub fn ty(&self, value: Value) -> Type {
        self.values.get(value.index()).copied().unwrap_or(Scalar::U64.into())
    }

    pub fn scalar(&self, value: Value) -> Scalar {
        self.ty(value).scalar().unwrap_or(Scalar::U64)
    }

    pub fn is_live(&self, value: Value) -> bool {
        self.live.get(value.index()).is_some_and(|live| *live)
    }

    /// A value's word in the module.
    pub fn value(&mut self, value: Value) -> Word {
        match self.ids.get(value.index()).copied().flatten() {
            Some(known) => known,
            None => {
                let ty = self.ty(value);
                self.zero(ty)
            }
        }
    }

    pub fn is(&mut self, value: Value, word: Word) {
        if let Some(known) = self.ids.get_mut(value.index()) {
            *known = Some(word);
        }
    }

    /// Other values for a while: their types, and what some of them are.
    pub fn with_values<T>(
        &mut self,
        values: Vec<Type>,
        known: &[Word],
        write: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let mut ids = vec![None; values.len()];
        ids.iter_mut().zip(known).for_each(|(id, known)| *id = Some(*known));
        let live = vec![true; values.len()];
        let literals = vec![None; values.len()];
        let values = std::mem::replace(&mut self.values, values);
        let ids = std::mem::replace(&mut self.ids, ids);
        let live = std::mem::replace(&mut self.live, live);
        let literals = std::mem::replace(&mut self.literals, literals);
        let result = write(self);
        (self.values, self.ids, self.live, self.literals) = (values, ids, live, literals);
        result
    }

    // Types.

    /// The type of a value.
    pub fn type_of(&mut self, ty: Type) -> Word {
        self.type_by(ty, |asm, scalar| asm.scalar(scalar))
    }

    /// The type in memory of groups.
    pub fn stored_type(&mut self, ty: Type) -> Word {
        self.type_by(ty, |asm, scalar| asm.stored(scalar))
    }

    fn type_by(&mut self, ty: Type, leaf: fn(&mut Assembly, Scalar) -> Word) -> Word {
        match (ty, self.kernel.types.get(ty)) {
            (Type::Scalar(scalar), _) => leaf(&mut self.asm, scalar),
            (_, Some(Composite::Array { element, len })) => {
                let of = self.type_by(*element, leaf);
                let len = self.asm.u32(*len);
                self.asm.array(of, len)
            }
            (_, Some(Composite::Struct(s))) => {
                let fields = s.fields.iter().map(|field| id(self.type_by(field.ty, leaf)));
                let fields = fields.collect();
                self.asm.global(Op::TypeStruct, None, fields)
            }
            (_, None) => self.asm.int(64),
        }
    }

    /// All zero bits.
    pub fn zero(&mut self, ty: Type) -> Word {
        let ty = self.type_of(ty);
        self.asm.null(ty)
    }

    // Variables of the function.

    /// A variable; what it holds is not known.
    pub fn local(&mut self, ty: Word) -> Word {
        let pointer = self.asm.pointer(StorageClass::Function, ty);
        let own = self.asm.id();
        let class = vec![Operand::StorageClass(StorageClass::Function)];
        self.locals.push(Instruction::new(Op::Variable, Some(pointer), Some(own), class));
        own
    }

    pub fn get(&mut self, ty: Word, pointer: Word) -> Word {
        self.asm.of(Op::Load, ty, &[pointer])
    }

    pub fn set(&mut self, pointer: Word, value: Word) {
        self.asm.act(Op::Store, vec![id(pointer), id(value)]);
    }

    /// The pointer of a variable of the kernel.
    pub fn var(&mut self, at: usize) -> Word {
        if let Some(known) = self.vars.get(at).copied().flatten() {
            return known;
        }
        let ty = self.kernel.vars.get(at).map_or(Scalar::U64.into(), |var| var.ty);
        let ty = self.type_of(ty);
        let own = self.local(ty);
        if let Some(var) = self.vars.get_mut(at) {
            *var = Some(own);
        }
        own
    }

    // The block of arguments.

    /// A word of the block by its place there: loaded when the function begins.
    fn block_word(&mut self, at: u64) -> Word {
        let pair = self.block_pair(at / 2);
        self.first(|w| {
            let ty = w.asm.int(64);
            w.asm.op(Op::CompositeExtract, ty, vec![id(pair), literal(at as u32 % 2)])
        })
    }

    /// Two words of the block, which no thread changes, in one load.
    fn block_pair(&mut self, at: u64) -> Word {
        if let Some((_, known)) = self.pairs.iter().find(|(have, _)| *have == at) {
            return *known;
        }
        let block = self.block();
        let own = self.first(|w| {
            let at = w.asm.u64(16 * at);
            let ty = w.asm.int(64);
            let address = w.asm.of(Op::IAdd, ty, &[block, at]);
            let pair = w.asm.global(Op::TypeVector, None, vec![id(ty), literal(2)]);
            let pointer_type = w.asm.pointer(StorageClass::PhysicalStorageBuffer, pair);
            let pointer = w.asm.of(Op::ConvertUToPtr, pointer_type, &[address]);
            let access = Operand::MemoryAccess(MemoryAccess::ALIGNED);
            w.asm.op(Op::Load, pair, vec![id(pointer), access, literal(16)])
        });
        self.pairs.push((at, own));
        own
    }

    /// The address of the block.
    fn block(&mut self) -> Word {
        if let Some(block) = self.block {
            return block;
        }
        let block = self.first(|w| {
            let pushed = w.asm.pushed();
            let (ty, zero) = (w.asm.int(64), w.asm.u32(0));
            let pointer = w.asm.pointer(StorageClass::PushConstant, ty);
            let at = w.asm.of(Op::AccessChain, pointer, &[pushed, zero]);
            w.asm.of(Op::Load, ty, &[at])
        });
        self.block = Some(block);
        block
    }

    /// A word of the block, which is put there if it is not.
    pub fn word(&mut self, word: ArgumentWord) -> Word {
        if let Some((_, known)) = self.words.iter().find(|(have, _)| *have == word) {
            return *known;
        }
        let own = self.block_word((self.pointers.len() + 1 + self.words.len()) as u64);
        self.words.push((word, own));
        own
    }

    /// A float of which the compiler does not know what it is, if that is better.
    pub fn hidden(&mut self, of: Scalar, value: Word) -> Word {
        let known = self.hides && self.asm.may_be_known(value);
        if known { self.veiled(of, value) } else { value }
    }

    /// The same float, of which the compiler does not know that it is the same.
    pub fn apart(&mut self, of: Scalar, value: Word) -> Word {
        if self.hides { self.veiled(of, value) } else { value }
    }

    /// The same, of any number of 32 or 64 bits.
    pub fn veiled(&mut self, of: Scalar, value: Word) -> Word {
        let raw = if of.bits() == 64 { Scalar::U64 } else { Scalar::U32 };
        let zero = match self.hidden {
            Some(zero) => zero,
            None => {
                // Blocks are aligned.
                let block = self.block();
                let zero = self.first(|w| {
                    let (ty, mask) = (w.asm.int(64), w.asm.u64(7));
                    w.asm.of(Op::BitwiseAnd, ty, &[block, mask])
                });
                self.hidden = Some(zero);
                zero
            }
        };
        let zero = self.cast(Scalar::U64, zero, raw);
        let ty = self.asm.scalar(raw);
        let bits = self.bits(of, value, raw);
        let same = self.asm.of(Op::BitwiseXor, ty, &[bits, zero]);
        self.bits(raw, same, of)
    }

    /// A word of the block by its place, of entries that have their own order.
    pub fn plain_word(&mut self, at: u64) -> Word {
        self.block_word(at)
    }

    /// The address of the record of failures.
    pub fn record(&mut self) -> Word {
        if let Some(record) = self.record {
            return record;
        }
        let own = self.block_word(self.pointers.len() as u64);
        self.record = Some(own);
        own
    }

    /// The address at which a parameter's allocation begins.
    pub fn allocation(&mut self, param: ParamId) -> Word {
        let at = self.pointers.iter().position(|have| *have == param).unwrap_or(0);
        self.block_word(at as u64)
    }

    /// A word of the launch in a dimension.
    pub fn launch_word(&mut self, word: impl Fn(u8) -> ArgumentWord, dim: u8) -> Word {
        self.word(word(self.of_three(dim)))
    }

    /// A dimension of the kernel among the three of a launch.
    pub fn of_three(&self, dim: u8) -> u8 {
        3 - self.kernel.shape.rank.min(3) + dim
    }

    /// The device's axis of a dimension.
    pub fn axis(&self, dim: u8) -> u32 {
        self.kernel.shape.rank.saturating_sub(1 + dim).into()
    }

    pub fn number(&self, param: ParamId) -> u32 {
        self.numbers.get(param.index()).copied().unwrap_or_default()
    }

    /// A point at which the command can fail; its number in the module.
    pub fn point(&mut self, what: Fails, site: Option<SiteId>) -> Word {
        self.points.push(Point { what, site });
        self.asm.u32(self.points.len() as u32)
    }

    // Ways.

    /// Two ways, each of which says whether its end can be reached.
    pub fn branches(
        &mut self,
        cond: Word,
        then: impl FnOnce(&mut Self) -> bool,
        otherwise: impl FnOnce(&mut Self) -> bool,
    ) -> bool {
        let [yes, no, merge] = [(); 3].map(|()| self.asm.id());
        self.asm.selection(merge);
        self.asm.branch_if(cond, yes, no);
        self.asm.label(yes);
        let first = then(self);
        if first {
            self.asm.branch(merge);
        }
        self.asm.label(no);
        let second = otherwise(self);
        if second {
            self.asm.branch(merge);
        }
        self.asm.label(merge);
        if !first && !second {
            self.asm.act(Op::Unreachable, vec![]);
        }
        first || second
    }

    /// Something that is done on a condition.
    pub fn when(&mut self, cond: Word, then: impl FnOnce(&mut Self)) {
        let [yes, merge] = [(); 2].map(|()| self.asm.id());
        self.asm.selection(merge);
        self.asm.branch_if(cond, yes, merge);
        self.asm.label(yes);
        then(self);
        self.asm.branch(merge);
        self.asm.label(merge);
    }

    /// The value of one of two ways.
    pub fn chosen(
        &mut self,
        cond: Word,
        ty: Word,
        then: impl FnOnce(&mut Self) -> Word,
        otherwise: impl FnOnce(&mut Self) -> Word,
    ) -> Word {
        let [yes, no, merge] = [(); 3].map(|()| self.asm.id());
        self.asm.selection(merge);
        self.asm.branch_if(cond, yes, no);
        self.asm.label(yes);
        let first = then(self);
        let after_first = self.asm.block;
        self.asm.branch(merge);
        self.asm.label(no);
        let second = otherwise(self);
        let after_second = self.asm.block;
        self.asm.branch(merge);
        self.asm.label(merge);
        let pairs = [first, after_first, second, after_second];
        self.asm.of(Op::Phi, ty, &pairs)
    }
}
