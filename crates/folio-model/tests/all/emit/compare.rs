//! Kernels of which all is exact.

use folio_kernel::{Binary, Kernel, Op, Stmt, Unary};

/// Replaces the functions of semantics 5.8, whose results differ between devices, by operations
/// whose results do not.
pub fn exact(kernel: &mut Kernel) {
    body(&mut kernel.body);
}

fn body(stmts: &mut [Stmt]) {
    for stmt in stmts {
        match stmt {
            Stmt::Let(define) => match &mut define.op {
                Op::Unary(op, _) => *op = unary(*op),
                Op::Binary(op, ..) => *op = binary(*op),
                _ => {}
            },
            Stmt::If { then, otherwise, .. } => {
                body(then);
                body(otherwise);
            }
            Stmt::For { body: inner, .. }
            | Stmt::Loop { body: inner, .. }
            | Stmt::Block { body: inner, .. }
            | Stmt::Phase { body: inner, .. }
            | Stmt::Collect { body: inner, .. } => body(inner),
            _ => {}
        }
    }
}

/// The operation in place of one operand's function.
pub fn unary(op: Unary) -> Unary {
    match op {
        Unary::Rsqrt | Unary::Cbrt => Unary::Sqrt,
        Unary::Exp | Unary::Exp2 | Unary::ExpM1 => Unary::Floor,
        Unary::Ln | Unary::Log2 | Unary::Log10 | Unary::Ln1p => Unary::Ceil,
        Unary::Sin | Unary::Cos | Unary::Tan => Unary::Trunc,
        Unary::Asin | Unary::Acos | Unary::Atan => Unary::Round,
        Unary::Sinh | Unary::Cosh | Unary::Tanh => Unary::RoundEven,
        fast if fast.is_fast() => Unary::Abs,
        other => other,
    }
}

/// The operation in place of two operands' function.
pub fn binary(op: Binary) -> Binary {
    match op {
        Binary::Pow => Binary::Rem,
        Binary::Atan2 => Binary::Min,
        // Which sign a NaN has is unspecified.
        Binary::Hypot | Binary::CopySign => Binary::Max,
        other => other,
    }
}
