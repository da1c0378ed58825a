//! Operations on scalars, of those that are left when a kernel is softened.

use super::writer::Writer;
use crate::ir::{Body, Kernel, Let, Shape, Stmt, Value};
use crate::op::{Binary, Combine, Compare, Op as IrOp, Unary};
use crate::soft::softened;
use crate::types::{Scalar, Types};
use rspirv::spirv::{GlslStd450Op, Op, Word};

/// GLSL's function of a fast operation.
fn fast_function(op: Unary) -> GlslStd450Op {
    match op {
        Unary::FastRsqrt => GlslStd450Op::InverseSqrt,
        Unary::FastExp2 => GlslStd450Op::Exp2,
        Unary::FastLog2 => GlslStd450Op::Log2,
        Unary::FastSin => GlslStd450Op::Sin,
        Unary::FastCos => GlslStd450Op::Cos,
        _ => GlslStd450Op::Sqrt,
    }
}

impl Writer<'_> {
    pub fn same(&mut self, op: Op, of: Scalar, values: &[Word]) -> Word {
        let ty = self.asm.scalar(of);
        self.asm.of(op, ty, values)
    }

    fn test(&mut self, op: Op, a: Word, b: Word) -> Word {
        self.same(op, Scalar::Bool, &[a, b])
    }

    /// The second if the first is true, else the third. Floats are chosen by their bits: drivers
    /// make minima of comparisons and choices, which need not keep the signs of zeros.
    pub fn pick(&mut self, of: Scalar, [cond, yes, no]: [Word; 3]) -> Word {
        let raw = match of {
            Scalar::F32 => Scalar::U32,
            Scalar::F64 => Scalar::U64,
            _ => return self.same(Op::Select, of, &[cond, yes, no]),
        };
        // Mesa (22.3) takes a negative zero for a zero where it makes a number of a condition.
        let hides = self.asm.is_negative_zero(yes) || self.asm.is_negative_zero(no);
        let (yes, no) = (self.bits(of, yes, raw), self.bits(of, no, raw));
        let chosen = match hides {
            false => self.same(Op::Select, raw, &[cond, yes, no]),
            true => {
                let (all, none) = (self.asm.constant(raw, u64::MAX), self.asm.constant(raw, 0));
                let mask = self.same(Op::Select, raw, &[cond, all, none]);
                let differs = self.same(Op::BitwiseXor, raw, &[yes, no]);
                let change = self.same(Op::BitwiseAnd, raw, &[mask, differs]);
                self.same(Op::BitwiseXor, raw, &[no, change])
            }
        };
        self.bits(raw, chosen, of)
    }

    /// The third, plus the products of the bytes of the first two.
    pub fn dot4(&mut self, of: Scalar, [a, b, c]: [Word; 3]) -> Word {
        let down = if of.is_signed() { Op::ShiftRightArithmetic } else { Op::ShiftRightLogical };
        let last = self.asm.u32(24);
        (0..4).fold(c, |sum, byte| {
            let up = self.asm.u32(24 - 8 * byte);
            let [x, y] = [a, b].map(|word| {
                let high = self.same(Op::ShiftLeftLogical, of, &[word, up]);
                self.same(down, of, &[high, last])
            });
            let product = self.same(Op::IMul, of, &[x, y]);
            self.same(Op::IAdd, of, &[sum, product])
        })
    }

    /// An integer's negative.
    pub fn negated(&mut self, of: Scalar, a: Word) -> Word {
        self.same(Op::SNegate, of, &[a])
    }

    /// An integer's low bits in another width, extended by zeros.
    fn resized(&mut self, from: Scalar, a: Word, to: Scalar) -> Word {
        if from.bits() == to.bits() { a } else { self.same(Op::UConvert, to, &[a]) }
    }

    /// An operation on a single operand.
    pub fn unary(&mut self, op: Unary, of: Scalar, a: Word) -> Word {
        let wide = of.bits() == 64;
        match op {
            Unary::Sqrt => {
                let ty = self.asm.scalar(of);
                self.asm.glsl(GlslStd450Op::Sqrt, ty, &[a])
            }
            Unary::Not if of == Scalar::Bool => self.same(Op::LogicalNot, of, &[a]),
            Unary::Not => self.same(Op::Not, of, &[a]),
            Unary::Neg => self.negated(of, a),
            Unary::Abs if of.is_signed() => {
                let zero = self.asm.constant(of, 0);
                let (less, turned) =
                    (self.test(Op::SLessThan, a, zero), self.unary(Unary::Neg, of, a));
                self.pick(of, [less, turned, a])
            }
            Unary::CountOnes if wide => self.of_halves(a, |w, high, low| {
                let (high, low) = (w.ones(high), w.ones(low));
                w.same(Op::IAdd, Scalar::U32, &[high, low])
            }),
            Unary::CountOnes => {
                let word = self.resized(of, a, Scalar::U32);
                self.ones(word)
            }
            Unary::LeadingZeros if wide => self.of_halves(a, |w, high, low| {
                let zero = w.asm.u32(0);
                let none = w.test(Op::IEqual, high, zero);
                let (first, second) = (w.leading(high), w.leading(low));
                let more = w.asm.u32(32);
                let second = w.same(Op::IAdd, Scalar::U32, &[second, more]);
                w.pick(Scalar::U32, [none, second, first])
            }),
            Unary::LeadingZeros => {
                let word = self.resized(of, a, Scalar::U32);
                let (count, less) = (self.leading(word), self.asm.u32(32 - of.bits()));
                self.same(Op::ISub, Scalar::U32, &[count, less])
            }
            Unary::TrailingZeros if wide => self.of_halves(a, |w, high, low| {
                let zero = w.asm.u32(0);
                let none = w.test(Op::IEqual, low, zero);
                let (first, second) = (w.trailing(low, 32), w.trailing(high, 32));
                let more = w.asm.u32(32);
                let second = w.same(Op::IAdd, Scalar::U32, &[second, more]);
                w.pick(Scalar::U32, [none, second, first])
            }),
            Unary::TrailingZeros => {
                let word = self.resized(of, a, Scalar::U32);
                self.trailing(word, of.bits())
            }
            Unary::ReverseBits | Unary::SwapBytes => {
                let turn = |w: &mut Self, word| match op {
                    Unary::ReverseBits => w.same(Op::BitReverse, Scalar::U32, &[word]),
                    _ => w.swapped(word, of),
                };
                if wide {
                    return self.of_halves(a, |w, high, low| {
                        let (high, low) = (turn(w, low), turn(w, high));
                        w.joined(high, low)
                    });
                }
                let word = self.resized(of, a, Scalar::U32);
                let turned = turn(self, word);
                if op == Unary::SwapBytes {
                    return self.resized(Scalar::U32, turned, of);
                }
                let down = self.asm.u32(32 - of.bits());
                let turned = self.same(Op::ShiftRightLogical, Scalar::U32, &[turned, down]);
                self.resized(Scalar::U32, turned, of)
            }
            Unary::FastRecip => {
                let one = self.asm.constant(of, 0x3f80_0000);
                self.same(Op::FDiv, of, &[one, a])
            }
            fast if fast.is_fast() => {
                let ty = self.asm.scalar(of);
                self.asm.glsl(fast_function(fast), ty, &[a])
            }
            // The rest are softened.
            _ => a,
        }
    }

    pub fn of_halves(&mut self, a: Word, of: impl FnOnce(&mut Self, Word, Word) -> Word) -> Word {
        let down = self.asm.u32(32);
        let high = self.same(Op::ShiftRightLogical, Scalar::U64, &[a, down]);
        let (high, low) = (
            self.same(Op::UConvert, Scalar::U32, &[high]),
            self.same(Op::UConvert, Scalar::U32, &[a]),
        );
        of(self, high, low)
    }

    pub fn joined(&mut self, high: Word, low: Word) -> Word {
        let (high, low) = (
            self.same(Op::UConvert, Scalar::U64, &[high]),
            self.same(Op::UConvert, Scalar::U64, &[low]),
        );
        let up = self.asm.u32(32);
        let high = self.same(Op::ShiftLeftLogical, Scalar::U64, &[high, up]);
        self.same(Op::BitwiseOr, Scalar::U64, &[high, low])
    }

    pub fn ones(&mut self, word: Word) -> Word {
        self.same(Op::BitCount, Scalar::U32, &[word])
    }

    /// Of 32 bits; 32 of zero.
    fn leading(&mut self, word: Word) -> Word {
        let ty = self.asm.int(32);
        let at = self.asm.glsl(GlslStd450Op::FindUMsb, ty, &[word]);
        // No bit is at -1.
        let last = self.asm.u32(31);
        self.same(Op::ISub, Scalar::U32, &[last, at])
    }

    /// The number of trailing zeros; `none` for 0.
    fn trailing(&mut self, word: Word, none: u32) -> Word {
        let ty = self.asm.int(32);
        let at = self.asm.glsl(GlslStd450Op::FindILsb, ty, &[word]);
        let (zero, none) = (self.asm.u32(0), self.asm.u32(none));
        let is_zero = self.test(Op::IEqual, word, zero);
        self.pick(Scalar::U32, [is_zero, none, at])
    }

    /// Of the lowest bits of a word, as many as the type has at most.
    fn swapped(&mut self, word: Word, of: Scalar) -> Word {
        let step = |w: &mut Self, [word, same]: [Word; 2], by: u32, mask: u32| {
            let (by, mask) = (w.asm.u32(by), w.asm.u32(mask));
            let down = w.same(Op::ShiftRightLogical, Scalar::U32, &[word, by]);
            let down = w.same(Op::BitwiseAnd, Scalar::U32, &[down, mask]);
            let up = w.same(Op::BitwiseAnd, Scalar::U32, &[same, mask]);
            let up = w.same(Op::ShiftLeftLogical, Scalar::U32, &[up, by]);
            w.same(Op::BitwiseOr, Scalar::U32, &[down, up])
        };
        match of.bits() {
            8 => word,
            16 => {
                // NVIDIA's compiler knows this for what it is, and then loses its value.
                let apart = self.veiled(Scalar::U32, word);
                step(self, [word, apart], 8, 0xff)
            }
            _ => {
                let pairs = step(self, [word; 2], 8, 0x00ff_00ff);
                step(self, [pairs; 2], 16, 0xffff)
            }
        }
    }

    /// Two operands, the second of another integer type where it is an amount. An integer's divisor
    /// is not 0.
    pub fn binary(&mut self, op: Binary, of: Scalar, a: Word, b: Word, amount: Scalar) -> Word {
        match of {
            Scalar::Bool => {
                let op = match op {
                    Binary::Or => Op::LogicalOr,
                    Binary::Xor => Op::LogicalNotEqual,
                    _ => Op::LogicalAnd,
                };
                self.same(op, of, &[a, b])
            }
            _ if of.is_float() => {
                let op = match op {
                    Binary::Sub => Op::FSub,
                    Binary::Mul => Op::FMul,
                    Binary::Div => Op::FDiv,
                    _ => Op::FAdd,
                };
                let (a, b) = (self.hidden(of, a), self.hidden(of, b));
                let b = if a == b { self.apart(of, b) } else { b };
                self.same(op, of, &[a, b])
            }
            _ => self.int_binary(op, of, a, b, amount),
        }
    }

    fn int_binary(&mut self, op: Binary, of: Scalar, a: Word, b: Word, amount: Scalar) -> Word {
        let signed = of.is_signed();
        let plain = |own| (own, [a, b]);
        let (own, operands) = match op {
            Binary::Add => plain(Op::IAdd),
            Binary::Sub => plain(Op::ISub),
            Binary::Mul => plain(Op::IMul),
            Binary::And => plain(Op::BitwiseAnd),
            Binary::Or => plain(Op::BitwiseOr),
            Binary::Xor => plain(Op::BitwiseXor),
            Binary::Shl => (Op::ShiftLeftLogical, [a, self.amount(of, b, amount)]),
            Binary::Shr if signed => (Op::ShiftRightArithmetic, [a, self.amount(of, b, amount)]),
            Binary::Shr => (Op::ShiftRightLogical, [a, self.amount(of, b, amount)]),
            Binary::Min | Binary::Max => {
                let less = if signed { Op::SLessThan } else { Op::ULessThan };
                let first = self.test(less, a, b);
                let (yes, no) = if op == Binary::Min { (a, b) } else { (b, a) };
                return self.pick(of, [first, yes, no]);
            }
            Binary::RotateLeft | Binary::RotateRight => {
                let by = self.amount(of, b, amount);
                let (zero, mask) = (self.asm.constant(of, 0), u64::from(of.bits() - 1));
                let mask = self.asm.constant(of, mask);
                let rest = self.same(Op::ISub, of, &[zero, by]);
                let rest = self.same(Op::BitwiseAnd, of, &[rest, mask]);
                let (left, right) = if op == Binary::RotateLeft { (by, rest) } else { (rest, by) };
                let high = self.same(Op::ShiftLeftLogical, of, &[a, left]);
                let low = self.same(Op::ShiftRightLogical, of, &[a, right]);
                (Op::BitwiseOr, [high, low])
            }
            Binary::SatAdd | Binary::SatSub => return self.saturated(op, of, a, b),
            Binary::MulHi => return self.high(of, a, b),
            // Written elsewhere, or of floats only.
            _ => return a,
        };
        self.same(own, of, &operands)
    }

    /// The amount of a shift, modulo the width.
    fn amount(&mut self, of: Scalar, b: Word, amount: Scalar) -> Word {
        let word = self.resized(amount, b, of);
        let mask = self.asm.constant(of, u64::from(of.bits() - 1));
        self.same(Op::BitwiseAnd, of, &[word, mask])
    }

    /// By carries and masks: where a comparison chooses, NVIDIA's compiler knows it for what it is,
    /// and makes wrong code of it (docs/drivers.md).
    fn saturated(&mut self, op: Binary, of: Scalar, a: Word, b: Word) -> Word {
        let add = op == Binary::SatAdd;
        let result = self.same(if add { Op::IAdd } else { Op::ISub }, of, &[a, b]);
        let two = |w: &mut Self, op, a, b| w.same(op, of, &[a, b]);
        let not = |w: &mut Self, a| w.same(Op::Not, of, &[a]);
        let (beyond, end) = if of.is_signed() {
            // The result has another sign than both terms, the subtrahend with the other one.
            let changed = two(self, Op::BitwiseXor, a, result);
            let other = two(self, Op::BitwiseXor, if add { result } else { a }, b);
            let beyond = two(self, Op::BitwiseAnd, changed, other);
            let most = self.asm.constant(of, of.mask() >> 1);
            let sign = self.spread(of, a);
            (beyond, two(self, Op::BitwiseXor, most, sign))
        } else {
            // The carry of the highest bit; a difference is the sum with `!a`, and its complement.
            let (a, other) = if add { (a, not(self, result)) } else { (not(self, a), result) };
            let both = two(self, Op::BitwiseAnd, a, b);
            let one = two(self, Op::BitwiseOr, a, b);
            let one = two(self, Op::BitwiseAnd, one, other);
            let end = self.asm.constant(of, if add { of.mask() } else { 0 });
            (two(self, Op::BitwiseOr, both, one), end)
        };
        let beyond = self.spread(of, beyond);
        let within = not(self, beyond);
        let result = two(self, Op::BitwiseAnd, result, within);
        let end = two(self, Op::BitwiseAnd, end, beyond);
        two(self, Op::BitwiseOr, result, end)
    }

    /// All bits as the highest one.
    fn spread(&mut self, of: Scalar, word: Word) -> Word {
        let down = self.asm.constant(of, u64::from(of.bits() - 1));
        self.same(Op::ShiftRightArithmetic, of, &[word, down])
    }

    /// The upper half of a product.
    fn high(&mut self, of: Scalar, a: Word, b: Word) -> Word {
        if of.bits() < 64 {
            let wide = if of.is_signed() { Op::SConvert } else { Op::UConvert };
            let (x, y) = (self.same(wide, Scalar::U64, &[a]), self.same(wide, Scalar::U64, &[b]));
            let product = self.same(Op::IMul, Scalar::U64, &[x, y]);
            let down = self.asm.u32(of.bits());
            let high = self.same(Op::ShiftRightLogical, Scalar::U64, &[product, down]);
            return self.same(Op::UConvert, of, &[high]);
        }
        let high = self.high_of_64(a, b);
        if of.is_signed() {
            let zero = self.asm.constant(of, 0);
            let mut less = |high, by, of_whom| {
                let negative = self.test(Op::SLessThan, of_whom, zero);
                let by = self.pick(of, [negative, by, zero]);
                self.same(Op::ISub, of, &[high, by])
            };
            let high = less(high, b, a);
            return less(high, a, b);
        }
        high
    }

    fn high_of_64(&mut self, a: Word, b: Word) -> Word {
        const OF: Scalar = Scalar::U64;
        let (down, mask) = (self.asm.u32(32), self.asm.u64(0xffff_ffff));
        let mut halves = |x: Word| {
            let high = self.same(Op::ShiftRightLogical, OF, &[x, down]);
            (high, self.same(Op::BitwiseAnd, OF, &[x, mask]))
        };
        let ((a1, a0), (b1, b0)) = (halves(a), halves(b));
        let mut times = |x, y| self.same(Op::IMul, OF, &[x, y]);
        let (low, first, second, high) =
            (times(a0, b0), times(a1, b0), times(a0, b1), times(a1, b1));
        let low_high = self.same(Op::ShiftRightLogical, OF, &[low, down]);
        let first_low = self.same(Op::BitwiseAnd, OF, &[first, mask]);
        let middle = self.same(Op::IAdd, OF, &[low_high, first_low]);
        let middle = self.same(Op::IAdd, OF, &[middle, second]);
        let first_high = self.same(Op::ShiftRightLogical, OF, &[first, down]);
        let middle_high = self.same(Op::ShiftRightLogical, OF, &[middle, down]);
        let sum = self.same(Op::IAdd, OF, &[high, first_high]);
        self.same(Op::IAdd, OF, &[sum, middle_high])
    }

    /// A comparison.
    pub fn compare(&mut self, op: Compare, of: Scalar, a: Word, b: Word) -> Word {
        if of == Scalar::Bool {
            let own = match op {
                Compare::Eq => Op::LogicalEqual,
                Compare::Ne => Op::LogicalNotEqual,
                _ => {
                    let (a, b) = (self.cast(of, a, Scalar::U32), self.cast(of, b, Scalar::U32));
                    return self.compare(op, Scalar::U32, a, b);
                }
            };
            return self.test(own, a, b);
        }
        let kind = if of.is_float() { 0 } else { 1 + usize::from(of.is_signed()) };
        let own = match op {
            Compare::Eq => [Op::FOrdEqual, Op::IEqual, Op::IEqual],
            Compare::Ne => [Op::FUnordNotEqual, Op::INotEqual, Op::INotEqual],
            Compare::Lt => [Op::FOrdLessThan, Op::ULessThan, Op::SLessThan],
            Compare::Le => [Op::FOrdLessThanEqual, Op::ULessThanEqual, Op::SLessThanEqual],
            Compare::Gt => [Op::FOrdGreaterThan, Op::UGreaterThan, Op::SGreaterThan],
            Compare::Ge => [Op::FOrdGreaterThanEqual, Op::UGreaterThanEqual, Op::SGreaterThanEqual],
        };
        self.test(own[kind], a, b)
    }

    /// A conversion (semantics 4).
    pub fn cast(&mut self, from: Scalar, a: Word, to: Scalar) -> Word {
        match (from, to) {
            _ if from == to => a,
            (Scalar::Bool, _) => {
                let one = match to {
                    Scalar::F32 => u64::from(1f32.to_bits()),
                    Scalar::F64 => 1f64.to_bits(),
                    _ => 1,
                };
                let (one, zero) = (self.asm.constant(to, one), self.asm.constant(to, 0));
                self.pick(to, [a, one, zero])
            }
            (_, Scalar::Bool) => {
                let zero = self.asm.constant(from, 0);
                let own = if from.is_float() { Op::FUnordNotEqual } else { Op::INotEqual };
                self.test(own, a, zero)
            }
            _ if from.is_float() && to.is_float() => self.same(Op::FConvert, to, &[a]),
            _ if from.is_float() => self.integer_of(from, a, to),
            _ if to.is_float() => {
                let own = if from.is_signed() { Op::ConvertSToF } else { Op::ConvertUToF };
                self.same(own, to, &[a])
            }
            _ if from.bits() == to.bits() => a,
            _ if from.is_signed() && to.bits() == 64 => {
                let low = self.cast(from, a, Scalar::I32);
                self.extended(low)
            }
            _ if from.is_signed() && to.bits() > from.bits() => self.same(Op::SConvert, to, &[a]),
            _ => self.same(Op::UConvert, to, &[a]),
        }
    }

    /// 32 bits extended by their sign to 64, by halves: of what compares such a number with a
    /// constant, Mesa (22.3) makes another comparison, which lavapipe computes wrong.
    fn extended(&mut self, low: Word) -> Word {
        let last = self.asm.u32(31);
        let high = self.same(Op::ShiftRightArithmetic, Scalar::U32, &[low, last]);
        self.joined(high, low)
    }

    /// A float to an integer, saturating, NaN to 0 (semantics 4.3).
    fn integer_of(&mut self, from: Scalar, a: Word, to: Scalar) -> Word {
        let number = |w: &mut Self, number: f64| {
            let narrow = u64::from((number as f32).to_bits());
            w.asm.constant(from, if from == Scalar::F64 { number.to_bits() } else { narrow })
        };
        let (least, most) = to.limits().unwrap_or((0, 0));
        // A power of two: exact in every float type. Of the lower end, too, or beyond it.
        let above = number(self, (most + 1) as f64);
        let below = number(self, if to.is_signed() { least as f64 } else { 0.0 });
        let zero = number(self, 0.0);
        let (fits_below, fits_above) =
            (self.test(Op::FOrdGreaterThanEqual, a, below), self.test(Op::FOrdLessThan, a, above));
        let fits = self.test(Op::LogicalAnd, fits_below, fits_above);
        let safe = self.pick(from, [fits, a, zero]);
        // Converted to 32 or 64 bits, of which narrower types keep what counts.
        let (wide, own) = match (to.is_signed(), to.bits() == 64) {
            (true, true) => (Scalar::I64, Op::ConvertFToS),
            (true, false) => (Scalar::I32, Op::ConvertFToS),
            (false, true) => (Scalar::U64, Op::ConvertFToU),
            (false, false) => (Scalar::U32, Op::ConvertFToU),
        };
        let converted = self.same(own, wide, &[safe]);
        let converted = self.resized(wide, converted, to);
        let (least, most) =
            (self.asm.constant(to, least as u64), self.asm.constant(to, most as u64));
        let beyond = self.test(Op::FOrdGreaterThanEqual, a, above);
        let result = self.pick(to, [beyond, most, converted]);
        let beyond = self.test(Op::FOrdLessThan, a, below);
        self.pick(to, [beyond, least, result])
    }

    /// The same bits as another type.
    pub fn bits(&mut self, from: Scalar, a: Word, to: Scalar) -> Word {
        let is_word = |of: Scalar| !matches!(of, Scalar::F32 | Scalar::F64);
        match is_word(from) && is_word(to) {
            true => a,
            false if from == to => a,
            false => {
                let (from, to) = (self.asm.scalar(from), self.asm.scalar(to));
                self.asm.bitcast(from, a, to)
            }
        }
    }

    /// The operation of a reduction: softened, as in kernels.
    pub fn combine(&mut self, combine: Combine, of: Scalar, a: Word, b: Word) -> Word {
        let body: Body = vec![Stmt::Let(Let {
            value: Value(2),
            op: IrOp::Binary(combine.binary(), Value(0), Value(1)),
            site: None,
        })];
        let kernel = Kernel {
            name: String::new(),
            shape: Shape { rank: 1, groups: false, group: 0, block: [0; 3], tile: 1 },
            types: Types::default(),
            params: vec![],
            vars: vec![],
            sites: vec![],
            values: vec![of.into(); 3],
            labels: 0,
            body,
        };
        let soft = softened(&kernel, self.exact);
        self.with_values(soft.values, &[a, b], |w| {
            w.body(&soft.body);
            w.value(Value(2))
        })
    }
}
