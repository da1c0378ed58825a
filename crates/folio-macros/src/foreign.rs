//! Words of programmers who come from CUDA, OpenCL, SYCL, C or Python, with a kernel's words for
//! them. Only names that mean nothing in Rust are here, or that numbers have as methods.

use crate::body::call::NUMBERS;

const INDEX: &str = "a kernel has its item: `i.index()` is `blockIdx.x * blockDim.x + threadIdx.x`, and `i.pos()` is that in two and \
    three dimensions; in a phase of a group, `i.local_index()` is `threadIdx.x`, and `g.index()` is `blockIdx.x`";
const PHASES: &str = "a kernel of groups has phases in place of barriers: `g.each(|i| ..)` begins when the phase before has ended for all \
    items of the group";
const SUBGROUPS: &str = "items of a sub-group have methods: `i.subgroup_shuffle_xor(x, 1)`, `i.subgroup_broadcast(x, 0)`, \
    `i.subgroup_reduce::<Add>(x)`, `i.subgroup_any(b)`, `i.subgroup_all(b)`";
/// Where something is counted or combined by all items.
const ATOMIC: &str = "pass an `Atomic` and call `n.add(at, 1)`, `n.max(at, k)` and others";
const PRINTS: &str = "write `print!`, in a kernel with a parameter `log: Log`";

/// Values.
const VALUES: &[(&str, &str)] = &[
    ("threadIdx", INDEX),
    ("blockIdx", INDEX),
    ("blockDim", INDEX),
    ("gridDim", INDEX),
    ("warpSize", SUBGROUPS),
    ("None", OPTIONS),
    ("math", MATH),
    ("np", MATH),
    ("Math", MATH),
];

const OPTIONS: &str = "`Option` and `Result` are of the host; keep the value, and a flag: `let (v, has) = (x[i], true);`";
const MATH: &str = "functions of numbers are methods here: `x.sqrt()`, `a.max(b)`";

/// Functions, by how their names begin.
const FUNCTIONS: &[(&str, &str)] = &[
    ("get_global_id", INDEX),
    ("get_global_linear_id", INDEX),
    ("get_local_id", INDEX),
    ("get_local_linear_id", INDEX),
    ("get_group_id", INDEX),
    ("get_global_size", "views have their extents: `y.len()`, `y.shape()`"),
    ("get_local_size", "a group has its size: `g.size()`"),
    ("__syncthreads", PHASES),
    ("__syncwarp", PHASES),
    ("syncthreads", PHASES),
    ("barrier", PHASES),
    ("workgroupBarrier", PHASES),
    ("work_group_barrier", PHASES),
    ("group_barrier", PHASES),
    ("atomicAdd", ATOMIC),
    ("atomicSub", ATOMIC),
    ("atomicMax", ATOMIC),
    ("atomicMin", ATOMIC),
    ("atomicCAS", ATOMIC),
    ("atomicExch", ATOMIC),
    ("atomic_add", ATOMIC),
    ("atomic_inc", ATOMIC),
    ("atomic_max", ATOMIC),
    ("atomic_min", ATOMIC),
    ("atomic_fetch_", ATOMIC),
    ("__shfl", SUBGROUPS),
    ("__ballot", SUBGROUPS),
    ("__match_any", SUBGROUPS),
    ("__any_sync", SUBGROUPS),
    ("__all_sync", SUBGROUPS),
    ("sub_group_", SUBGROUPS),
    ("printf", PRINTS),
];

/// Types of the host, of which programs call functions.
const TYPES: &[(&str, &str)] = &[
    (
        "Vec",
        "an array has a constant length, `[0.0; 16]`; what is larger is a view, or `Local` memory",
    ),
    ("VecDeque", "an array has a constant length, `[0.0; 16]`"),
    ("String", "there are no strings"),
    ("HashMap", "sort the keys on the host, and search in a view"),
    ("HashSet", "sort the keys on the host, and search in a view"),
    ("BTreeMap", "sort the keys on the host, and search in a view"),
    ("BTreeSet", "sort the keys on the host, and search in a view"),
    ("Rc", "values are copied"),
    ("Arc", "values are copied"),
    ("RefCell", "values are copied"),
    ("Mutex", ATOMIC),
    ("RwLock", ATOMIC),
];

/// A kernel's word for a type of the host.
pub fn type_of_the_host(name: &str) -> Option<&'static str> {
    TYPES.iter().find(|(foreign, _)| *foreign == name).map(|(_, text)| *text)
}

/// Methods that Rust has and devices have not, with what to write.
pub const NOT_HERE: &[(&str, &str)] = &[
    ("clone", "values are copied"),
    ("fetch_add", ATOMIC),
    ("fetch_sub", ATOMIC),
    ("fetch_min", ATOMIC),
    ("fetch_max", ATOMIC),
    ("fetch_and", ATOMIC),
    ("fetch_or", ATOMIC),
    ("fetch_xor", ATOMIC),
    ("lock", "pass an `Atomic`, or a `Reduce`"),
    ("iter", "write `for k in 0..x.len()`"),
    ("iter_mut", "write `for k in 0..x.len()`"),
    ("into_iter", "write `for k in 0..x.len()`"),
    ("get", "index it: outside, it is 0, and the command fails"),
    ("unwrap", "there is no `Option` and no `Result`"),
    ("expect", "there is no `Option` and no `Result`"),
    ("checked_pow", "compare before"),
    ("to_radians", "write `x * (PI / 180.0)`"),
    ("to_degrees", "write `x * (180.0 / PI)`"),
    ("total_cmp", "ask at once: `a.total_cmp(&b).is_lt()`"),
    ("div_euclid", "write `(a - a.rem_euclid(b)) / b`"),
    ("ilog2", "write `31 - x.leading_zeros()`, for 32 bits"),
    ("is_power_of_two", "write `x.count_ones() == 1`"),
    ("wrapping_shl", "write `<<`, which wraps"),
    ("wrapping_shr", "write `>>`, which wraps"),
    ("wrapping_div", "write `/`, which wraps"),
    ("wrapping_rem", "write `%`, which wraps"),
    ("to_string", "there are no strings"),
    ("rev", "only the range of a `for` has it"),
    ("step_by", "only the range of a `for` has it"),
    ("into", "write `as`"),
    ("try_into", "write `as`"),
];

/// A kernel's word for a value of this name.
pub fn value(name: &str) -> Option<&'static str> {
    VALUES.iter().find(|(foreign, _)| *foreign == name).map(|(_, text)| *text)
}

/// A kernel's word for a function of this name, where it is called without a path.
pub fn function(name: &str) -> Option<String> {
    if let Some((_, text)) = FUNCTIONS.iter().find(|(begins, _)| name.starts_with(begins)) {
        return Some((*text).to_owned());
    }
    let (method, of_c) = method(name)?;
    let own = match of_c {
        true => String::new(),
        false => format!(
            "; a function of your own with this name is called by its path, `self::{name}(..)`"
        ),
    };
    let call = match method {
        "min" | "max" | "atan2" | "hypot" | "powf" | "copysign" => format!("a.{method}(b)"),
        "mul_add" => "a.mul_add(b, c)".to_owned(),
        _ => format!("x.{method}()"),
    };
    Some(format!("functions of numbers are methods here: `{call}`{own}"))
}

/// The method that a function of C is, and whether no program in Rust would have one of that name.
fn method(name: &str) -> Option<(&'static str, bool)> {
    const OF_C: &[(&str, &str)] = &[
        ("fabs", "abs"),
        ("fmax", "max"),
        ("fmin", "min"),
        ("fma", "mul_add"),
        ("log", "ln"),
        ("rint", "round_ties_even"),
    ];
    let find = |name: &str| {
        let of_c = OF_C.iter().find(|(own, _)| *own == name).map(|(_, method)| *method);
        of_c.or_else(|| NUMBERS.iter().find(|own| **own == name).copied())
    };
    if let Some(method) = FREE.iter().find(|own| **own == name) {
        return Some((method, false));
    }
    let short = name.strip_prefix("__").or_else(|| name.strip_prefix("native_"));
    let single = |name: &str| name.strip_suffix('f').and_then(find);
    match short {
        Some(short) => find(short).or_else(|| single(short)),
        None => OF_C.iter().find(|(own, _)| *own == name).map(|(_, method)| *method),
    }
    .or_else(|| single(name))
    .map(|method| (if method == "pow" { "powf" } else { method }, true))
}

/// Methods of numbers that other languages have as functions of these names.
const FREE: &[&str] = &[
    "sqrt", "rsqrt", "cbrt", "exp", "exp2", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "floor", "ceil", "trunc", "round", "abs", "min", "max", "atan2", "hypot",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_languages_have_advice_and_names_of_programs_have_none() {
        for (name, part) in [
            ("get_global_id", "`i.index()`"),
            ("__syncthreads", "phases"),
            ("atomicAdd", "`Atomic`"),
            ("__shfl_xor_sync", "subgroup_shuffle_xor"),
            ("sqrtf", "`x.sqrt()`"),
            ("__expf", "`x.exp()`"),
            ("fmaxf", "`a.max(b)`"),
            ("powf", "`a.powf(b)`"),
            ("fmaf", "`a.mul_add(b, c)`"),
            ("sqrt", "`self::sqrt(..)`"),
        ] {
            let text = function(name).unwrap_or_default();
            assert!(text.contains(part), "{name}: {text}");
        }
        for name in ["lerp", "f", "half", "atomic", "index", "buff", "step", "minimum", "pow_of"] {
            assert_eq!(function(name), None, "{name}");
        }
        assert!(value("threadIdx").is_some() && value("thread").is_none());
    }
}
