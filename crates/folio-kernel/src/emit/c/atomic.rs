//! Atomic operations (semantics 9.1), relaxed, all of them yielding the old value.

use super::dialect::Dialect;
use super::writer::Writer;
use crate::op::Atomic;
use crate::types::Scalar;

impl Writer<'_> {
    /// The operation on what is at an lvalue in a space of memory.
    pub(super) fn atomically(
        &mut self,
        op: Atomic,
        of: Scalar,
        lvalue: &str,
        space: &'static str,
        args: &[String],
    ) -> String {
        let t = of.name();
        if op == Atomic::Load {
            return format!("*(volatile {space} {t} *)&{lvalue}");
        }
        match self.form.dialect {
            Dialect::OpenCl => self.opencl_atomic(op, of, lvalue, space, args),
            Dialect::Cuda => cuda(op, of, lvalue, args),
        }
    }

    fn opencl_atomic(
        &mut self,
        op: Atomic,
        of: Scalar,
        lvalue: &str,
        space: &'static str,
        args: &[String],
    ) -> String {
        let wide = of.bits() == 64;
        let (prefix, bits) = if wide { ("atom_", "u64") } else { ("atomic_", "u32") };
        if of.is_float() && op == Atomic::Add {
            let name = self.float_add(of, space);
            return format!("{name}(&{lvalue}, {})", args.join(""));
        }
        let name = match op {
            Atomic::Add => "add",
            Atomic::Sub => "sub",
            Atomic::Min => "min",
            Atomic::Max => "max",
            Atomic::And => "and",
            Atomic::Or => "or",
            Atomic::Xor => "xor",
            Atomic::Exchange | Atomic::Load => "xchg",
            Atomic::CompareExchange => "cmpxchg",
        };
        if !of.is_float() {
            let t = of.name();
            let args: Vec<_> = args.iter().map(|arg| format!("({t}){arg}")).collect();
            return format!(
                "{prefix}{name}((volatile {space} {t} *)&{lvalue}, {})",
                args.join(", ")
            );
        }
        let (to, from) = if wide { ("BITS_F64", "F64_BITS") } else { ("BITS_F32", "F32_BITS") };
        let pointer = format!("(volatile {space} {bits} *)&{lvalue}");
        format!("{from}({prefix}{name}({pointer}, {to}({})))", args.join(""))
    }

    /// Addition of floats, of comparing and exchanging.
    fn float_add(&mut self, of: Scalar, space: &'static str) -> String {
        let t = of.name();
        let (u, prefix, to, from) = match of {
            Scalar::F64 => ("u64", "atom_", "BITS_F64", "F64_BITS"),
            _ => ("u32", "atomic_", "BITS_F32", "F32_BITS"),
        };
        let name = format!("atomic_add_{t}_{}", space.to_lowercase());
        self.helpers.made(&name, |_| {
            format!(
                "FN {t} {name}(volatile {space} {t} *at, {t} by) {{
  volatile {space} {u} *bits = (volatile {space} {u} *)at;
  {u} old = *bits;
  for (;;) {{
    const {u} seen = {prefix}cmpxchg(bits, old, {to}({from}(old) + by));
    if (seen == old) return {from}(old);
    old = seen;
  }}
}}
"
            )
        });
        name
    }
}

fn cuda(op: Atomic, of: Scalar, lvalue: &str, args: &[String]) -> String {
    let t = of.name();
    // The function's type: 64 bits are unsigned for all but comparisons.
    let compares = matches!(op, Atomic::Min | Atomic::Max);
    let kind = match of {
        Scalar::I64 if !compares => "u64",
        Scalar::F64 if op == Atomic::Exchange => "u64",
        _ => t,
    };
    let name = match op {
        Atomic::Add | Atomic::Sub => "atomicAdd",
        Atomic::Min => "atomicMin",
        Atomic::Max => "atomicMax",
        Atomic::And => "atomicAnd",
        Atomic::Or => "atomicOr",
        Atomic::Xor => "atomicXor",
        Atomic::Exchange | Atomic::Load => "atomicExch",
        Atomic::CompareExchange => "atomicCAS",
    };
    let pointer = format!("({kind} *)&{lvalue}");
    if of == Scalar::F64 && op == Atomic::Exchange {
        return format!("F64_BITS({name}({pointer}, BITS_F64({})))", args.join(""));
    }
    let unsigned = if of.bits() == 64 { "u64" } else { "u32" };
    let args: Vec<_> = match op {
        // There is no subtraction of 64 bits.
        Atomic::Sub => {
            args.iter().map(|a| format!("({kind})(({unsigned})0 - ({unsigned}){a})")).collect()
        }
        _ => args.iter().map(|a| format!("({kind}){a}")).collect(),
    };
    format!("({t}){name}({pointer}, {})", args.join(", "))
}
