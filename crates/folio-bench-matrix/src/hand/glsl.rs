//! The kernels' C as GLSL, for Vulkan: parameters become buffers and push constants, local arrays
//! become `shared`, and `naga` makes SPIR-V of it. The translator takes what the texts here have,
//! and no more.

use super::failed;
use crate::error::{Error, Result};
use naga::back::spv;
use naga::front::glsl;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{Barrier, Block, Statement};

const PRELUDE: &str = "#version 450
#define X gl_GlobalInvocationID.x
#define Y gl_GlobalInvocationID.y
#define Z gl_GlobalInvocationID.z
#define LX gl_LocalInvocationID.x
#define LY gl_LocalInvocationID.y
#define GX gl_WorkGroupID.x
#define BARRIER barrier()
#define FUNCTION
#define FMA(a, b, c) fma(a, b, c)
#define WITHIN(i, n) if ((i) >= (n)) return
";
/// Words of C that GLSL spells otherwise, or keeps for itself.
const WORDS: [(&str, &str); 6] = [
    ("size_t", "uint"),
    ("float4", "vec4"),
    ("fabs", "abs"),
    ("WIDE", "float"),
    ("out", "results"),
    ("all", "values"),
];

/// A kernel's module, and which of its parameters are memory.
pub struct Shader {
    /// Words of SPIR-V; the entry point is `main`.
    pub words: Vec<u32>,
    /// For each parameter.
    pub is_memory: Vec<bool>,
}

/// Barriers are of the whole group: naga takes those of GLSL for such of a sub-group, too, and then
/// waits for that alone.
fn of_groups(block: &mut Block) {
    for statement in block.iter_mut() {
        match statement {
            Statement::ControlBarrier(of) => *of = Barrier::WORK_GROUP,
            Statement::Block(body) => of_groups(body),
            Statement::If { accept, reject, .. } => {
                [accept, reject].into_iter().for_each(of_groups)
            }
            Statement::Loop { body, continuing, .. } => {
                [body, continuing].into_iter().for_each(of_groups);
            }
            Statement::Switch { cases, .. } => {
                cases.iter_mut().for_each(|case| of_groups(&mut case.body));
            }
            _ => {}
        }
    }
}

/// The kernel of this name, for groups of this size.
pub fn compile(text: &str, name: &str, group: [usize; 3]) -> Result<Shader> {
    let Source { text, is_memory, is_atomic } = translate(text, name, group)
        .ok_or_else(|| failed("GLSL of a kernel", format!("'{name}' is not as expected")))?;
    if is_atomic {
        let what = format!("by hand: naga takes no atomic operations from GLSL ('{name}')");
        return Err(Error::NotHere(what));
    }
    let mut module = glsl::Frontend::default()
        .parse(&glsl::Options::from(naga::ShaderStage::Compute), &text)
        .map_err(|why| failed("naga's GLSL", format!("{why}\n{text}")))?;
    module.functions.iter_mut().for_each(|(_, function)| of_groups(&mut function.body));
    module.entry_points.iter_mut().for_each(|entry| of_groups(&mut entry.function.body));
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|why| failed("naga's validation", format!("{why:?}\n{text}")))?;
    let mut options = spv::Options { lang_version: (1, 3), ..spv::Options::default() };
    // As in C: who writes by hand keeps indices within.
    options.flags.remove(spv::WriterFlags::ADJUST_COORDINATE_SPACE);
    options.zero_initialize_workgroup_memory = spv::ZeroInitializeWorkgroupMemoryMode::None;
    options.force_loop_bounding = false;
    let entry = spv::PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: "main".to_owned(),
    };
    let words = spv::write_vec(&module, &info, &options, Some(&entry))
        .map_err(|why| failed("naga's SPIR-V", why))?;
    Ok(Shader { words, is_memory })
}

/// GLSL, and which parameters are memory.
struct Source {
    text: String,
    is_memory: Vec<bool>,
    /// The kernel has operations that naga does not take from GLSL.
    is_atomic: bool,
}

fn translate(text: &str, name: &str, group: [usize; 3]) -> Option<Source> {
    let (mut outside, mut rest, mut found) = (String::new(), text, None);
    while let Some(begin) = rest.find("KERNEL") {
        outside.push_str(&rest[..begin]);
        let open = begin + rest[begin..].find('{')?;
        let end = closing(rest, open)?;
        let (head, body) = (&rest[begin..open], &rest[open..=end]);
        let params = head.rfind('(')?;
        if head[..params].split_whitespace().last()? == name {
            found = Some((&head[params + 1..head.rfind(')')?], body));
        }
        rest = &rest[end + 1..];
    }
    outside.push_str(rest);
    let (params, body) = found?;
    let is_atomic = ["INCREMENT(", "ADD("].iter().any(|word| body.contains(word));
    let (mut memory, mut scalars, mut is_memory) = (String::new(), String::new(), Vec::new());
    for param in params.split(',') {
        let words: Vec<&str> = param.split_whitespace().flat_map(|w| w.split('*')).collect();
        let is_in_memory = words.contains(&"GLOBAL");
        let access = if words.contains(&"const") { "readonly " } else { "" };
        let mut own =
            words.into_iter().filter(|word| !["", "GLOBAL", "const", "RESTRICT"].contains(word));
        let (ty, name) = (own.next()?, own.next()?);
        if is_in_memory {
            let at = is_memory.iter().filter(|memory| **memory).count();
            memory.push_str(&format!(
                "layout(std430, set = 0, binding = {at}) {access}buffer M{at} {{ {ty} {name}[]; }};\n"
            ));
        } else {
            scalars.push_str(&format!("{ty} {name}; "));
        }
        is_memory.push(is_in_memory);
    }
    if !scalars.is_empty() {
        scalars = format!("layout(push_constant) uniform Scalars {{ {scalars}}};\n");
    }
    let (shared, body) = apart(&streamed(body)?);
    let [x, y, z] = group;
    let layout =
        format!("layout(local_size_x = {x}, local_size_y = {y}, local_size_z = {z}) in;\n");
    let all = format!("{layout}{memory}{scalars}{outside}{shared}void main() {body}\n");
    Some(Source { text: format!("{PRELUDE}{}", renamed(&all)), is_memory, is_atomic })
}

/// The place of the bracket that closes the one there.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().skip(open) {
        match byte {
            b'{' | b'(' => depth += 1,
            b'}' | b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// With the statements of `STREAM` for four items, a group's width apart.
fn streamed(body: &str) -> Option<String> {
    let Some(begin) = body.find("STREAM(") else { return Some(body.to_owned()) };
    let open = begin + "STREAM".len();
    let end = closing(body, open)?;
    let one = &body[open + 1..end];
    let four: String = (0..4u32)
        .map(|k| format!("{{ uint i = GX * 1024u + {}u + LX; {one} }}\n", 256 * k))
        .collect();
    Some(format!("{}{four}{}", &body[..begin], &body[end + 1..]))
}

/// Declarations of local arrays, and what is left.
fn apart(body: &str) -> (String, String) {
    let (mut shared, mut rest) = (String::new(), String::new());
    for line in body.split_inclusive('\n') {
        match line.trim().strip_prefix("LOCAL ") {
            Some(declared) => shared.push_str(&format!("shared {declared}\n")),
            None => rest.push_str(line),
        }
    }
    (shared, rest)
}

fn renamed(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut renamed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(is_word) {
        let end = rest[begin..].find(|c| !is_word(c)).map_or(rest.len(), |len| begin + len);
        let word = &rest[begin..end];
        let other = WORDS.iter().find(|(c, _)| *c == word).map_or(word, |(_, glsl)| glsl);
        renamed.push_str(&rest[..begin]);
        renamed.push_str(other);
        rest = &rest[end..];
    }
    renamed + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_all_kinds_become_modules() {
        let text = "
#define TILE 4
float half_of(float x) { return 0.5f * x; }
KERNEL one(uint n, GLOBAL float *a) { WITHIN(X, n); a[X] = half_of(a[X]) + 1.0f; }
KERNEL add(float s, GLOBAL const float *RESTRICT x, GLOBAL float *RESTRICT y) {
    STREAM(y[i] = x[i] + s * y[i];)
}
KERNEL GROUP(4, 1) turned(uint n, GLOBAL const uint *RESTRICT x, GLOBAL uint *RESTRICT out) {
    LOCAL uint all[TILE];
    all[LX] = x[X];
    BARRIER;
    out[X] = all[3 - LX];
}
KERNEL counts(GLOBAL uint *x) { ADD(&x[0], 1u); }
";
        for (name, group, is_memory) in [
            ("one", [256, 1, 1], vec![false, true]),
            ("add", [256, 1, 1], vec![false, true, true]),
            ("turned", [4, 1, 1], vec![false, true, true]),
        ] {
            let shader = compile(text, name, group).unwrap();
            assert_eq!(shader.words[0], 0x0723_0203, "{name}");
            assert_eq!(shader.is_memory, is_memory, "{name}");
        }
        let atomic = compile(text, "counts", [256, 1, 1]).err();
        assert!(atomic.is_some_and(|why| why.is_skip()));
        let unknown = compile(text, "none", [1; 3]).err().map(|why| why.to_string());
        assert!(unknown.is_some_and(|why| why.contains("'none'")));
    }
}
