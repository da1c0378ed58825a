//! The macro never panics: kernels, mutated token by token, are expanded; what comes out is Rust,
//! with errors or without (KRN-06).

use crate::function::{Kind, expand};
use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;

/// The sources that are mutated. Together they use all that bodies may contain, and much that they
/// may not.
const CORPUS: &[&str] = &[
    "fn saxpy(i: Item, a: f32, x: In<f32>, mut y: InOut<f32>) { y[i] = 2.0 * a * x[i + 1] + y[i]; }",
    "fn k<T: Number, const N: usize>(i: Item<2>, x: In<T, 2>, y: Out<T, 2>) where T: Copy {
        let (r, c) = i.pos(); let mut h = [T::ZERO; N]; h[0] += x[(r - 1, c)] as T;
        y[i] = if r == 0 || c + 1 >= x.shape()[1] { h[0] } else { -x[i] };
    }",
    "fn m(i: Item, x: In<i32>, y: InOut<i32>) {
        let n = match (x[i], true) { (0, _) | (1, false) => 1, (k @ 2..=5, _) if k > 3 => k, (-7, b) => { return; } (LIMIT, _) => 2, _ => 3 };
        y[i] = n;
    }",
    "fn l(i: Item, y: Out<u32>) {
        let mut n = 0; let late;
        'a: for k in (0..=9).rev().step_by(2) { while n < 5 { n += 1; if n == k { continue 'a; } else { break 'a } } }
        late = loop { n <<= 1; if n > 100 { break n; } };
        let v = 'b: { if late > 3 { break 'b late; } 7 };
        y[i] = v % 3 ^ !n & 0xff;
    }",
    "fn s(i: Item<3>, p: In<Body, 3>, o: Out<Body, 3>) {
        let mut me = p[i]; me.vel.x += Vec3::new(1.0, 2f32, -3.5).dot(me.pos); me.t.0 = (1, 2).1;
        assert!(me.mass > 0.0, \"mass\"); if me.mass == 1.0 { panic!(\"no\"); }
        o[i] = Body { pos: helper(me.pos, 1e-3), ..me };
    }",
    "impl<T: Number> Vec3<T> { const A: T = T::ONE; fn dot(self, b: Self) -> T { self.x * b.x } fn new(mut x: T) -> Self { x -= T::lit(2.0); Self { x } }
        fn by(&self) {} fn generic<U>(&mut self, x: In<U>) {} }",
    "impl Mul<f32> for Vec3 { type Output = Vec3; fn mul(self, by: f32) -> Self { Vec3 { x: self.x * by } } }",
    "fn bad(i: Item, x: &[f32], f: fn(i32) -> i32, s: impl Fn()) {
        let c = |a| a + 1; let r = &x; *r = 1; if let Some(q) = r { println!(\"{}\", q); } let z = x?; unsafe { c(\"text\") }
        let v = vec![1, 2]; for e in v.iter() { let _ = x as _; } async { }; const { 5 }; struct Inner; x.0.f()()[1] = 'c';
        while let Some(_) = r {} let Some(y) = z else { return }; assert_eq!(1, 2); a..b; ..; r#type.r#fn();
    }",
    // Loops with the same ends for all items, which have a form for strips, and indices with known
    // ends.
    "fn bodies(i: Item, x: In<Vec3>, m: In<f32, 2>, y: Out<f32>) {
        let me = x[i]; let n = x.len(); let k = i.index(); let mut sum = 0.0;
        for j in 0..n { let by = x[j].x - me.x; sum += by * m[(k, j)]; for c in 1..m.shape()[1] { sum -= m[(k, c - 1)]; } }
        let last = sum * 2.0; for j in 0..x.len() { sum = sum + last + x[j].y; } y[i] = sum;
    }",
    "fn owners(i: Item, at: In<u32>, r: OutRow<f32>, v: OutColumn<f32>, p: InOutRow<i32>, c: OutChunk<i32, 4>, bins: Atomic<u32>, s: Racy<u32>, sum: Reduce<f32, Add>) {
        for k in 1..p.shape()[1] { p[(i, k)] += p[(i, k - 1)]; r[(i, k)] = 0.5; } c[i][at[i] as usize] = 1; c[i] = [1, 2, 3, 4];
        let was = bins.add(at[i] % bins.len() as u32, 1); bins.max(0, bins.load(i) + was); s[at[i]] = was; sum.give(at[i] as f32);
    }",
    // Groups.
    "fn matmul(g: Group<2>, a: In<f32, 2>, b: In<f32, 2>, ta: Local<f32, 64>, tb: Local<f32, 64>, c: Out<f32, 2>) {
        let acc = g.private(0.0); let (gr, gc) = g.pos();
        for t in 0..a.shape()[1] / TILE {
            g.each(|i| { let (r, k) = i.local_pos(); let (row, column) = i.pos(); ta[i] = a[(row, t * TILE + k)]; tb[i] = b[(gr * 8 + r, column)]; });
            g.each(|i| { let (r, k) = i.local_pos(); let mut sum = acc[i]; for j in 0..TILE { sum += ta[r * TILE + j] * tb[j * TILE + k]; } acc[i] = sum; });
        }
        g.each(|i| c[i] = acc[i]);
    }",
    "fn folds(g: Group, x: In<f32>, sums: InOutGroup<f32>, most: InOutGroup<u32>, tile: Local<f32, 18>, n: LocalAtomic<u32, 16>, all: Reduce<f32, Add>, y: InOut<f32>) {
        if g.index() == 1 { return; } let first = g.index() * g.size()[0]; tile.fill(|k| if first + k < x.len() { x[first + k] } else { 0.0 });
        let sum = g.reduce::<Add>(|i| x[i]); sums[g] = sum; most[g] += 1; let up = g.inclusive_scan::<Max>(|i| x[i] + sum);
        let earlier = g.exclusive_scan::<Xor>(|i| i.local_index() as u32);
        g.each(|i| { n.add(i.local_index() % 16, earlier[i]); all.give(up[i]); if x[i] < sum { return; } y[i] = tile[i.local_index() + 1]; });
        g.once(|| { for k in 0..16 { most[g] = most[g] + n.load(k); } });
    }",
    "fn together(g: Group, x: In<u32>, y: InOut<[u32; 3]>) {
        let size = g.subgroup_size(); g.each(|i| {
            let v = x[i]; let sum = i.subgroup_reduce::<Add>(v); let up = i.subgroup_inclusive_scan::<Add>(v) + i.subgroup_exclusive_scan::<Max>(v);
            let (any, all) = (i.subgroup_any(v % 7 == 0), i.subgroup_all(v == sum)); let third = i.subgroup_broadcast(v, 2) ^ i.subgroup_shuffle_xor(v, 1);
            if any && !all { y[i] = [size as u32, up, third + i.subgroup_lane() as u32]; }
        });
    }",
    "struct NoFunction { a: f32 }",
];

/// Arguments of the attribute.
const ARGUMENTS: &[&str] =
    &["", "contract", "fast", "group = 64", "group = [8, 4], contract", "deny_checks", "checked"];

/// Structs and others to derive for.
const STRUCTS: &[&str] = &[
    "#[repr(C)] #[derive(Clone, Copy)] struct Body<T: Number, const N: usize> where T: Copy { pos: [T; N], pub vel: Vec3<f32>, mass: f64 }",
    "#[repr(C)] struct Pair(f32, u64);",
    "#[repr(transparent)] pub(crate) struct One { at: u32 } enum Kind { A(i32), B { c: u8 } } union Bits { f: f32 }",
    "struct Nothing;",
];

/// A small generator, so that a failure can be had again.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

/// All tokens, and those within groups.
fn flat(tokens: TokenStream, all: &mut Vec<TokenTree>) {
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            flat(group.stream(), all);
        }
        all.push(token);
    }
}

/// The same with about one token in `rarity` dropped, doubled, swapped with its neighbour, or
/// replaced.
fn mutated(tokens: TokenStream, pool: &[TokenTree], rarity: usize, rng: &mut Rng) -> TokenStream {
    let mut all: Vec<TokenTree> = vec![];
    for token in tokens {
        let token = match token {
            TokenTree::Group(group) => {
                let inner = mutated(group.stream(), pool, rarity, rng);
                TokenTree::Group(Group::new(group.delimiter(), inner))
            }
            other => other,
        };
        if rng.below(rarity) > 0 {
            all.push(token);
            continue;
        }
        match rng.below(4) {
            0 => {}
            1 => all.extend([token.clone(), token]),
            2 => {
                let before = all.pop();
                all.push(token);
                all.extend(before);
            }
            _ => all.push(pool[rng.below(pool.len())].clone()),
        }
    }
    all.into_iter().collect()
}

#[test]
fn mutated_kernels_never_panic() {
    let mut pool = vec![];
    let corpus: Vec<_> = CORPUS.iter().map(|text| TokenStream::from_str(text).unwrap()).collect();
    corpus.iter().for_each(|tokens| flat(tokens.clone(), &mut pool));
    let arguments = ARGUMENTS.iter().map(|text| TokenStream::from_str(text).unwrap());
    let arguments: Vec<_> = arguments.collect();
    let (mut rng, mut accepted, mut refused) = (Rng(0x9e37_79b9_7f4a_7c15), 0, 0);
    let (mut groups, mut strips) = (0, 0);
    for case in 0..4_000 {
        let rarity = [10, 40, 160, 640][rng.below(4)];
        let tokens = mutated(corpus[rng.below(corpus.len())].clone(), &pool, rarity, &mut rng);
        let kind = if rng.below(4) > 0 { Kind::Kernel } else { Kind::Device };
        let said = match rng.below(4) {
            0 => mutated(arguments[rng.below(arguments.len())].clone(), &pool, 4, &mut rng),
            1 if kind == Kind::Kernel => arguments[1].clone(),
            _ => TokenStream::new(),
        };
        let text = format!("({said}) {tokens}");
        let expanded = catch_unwind(AssertUnwindSafe(|| expand(said, tokens, kind)));
        let Ok(expanded) = expanded else { panic!("case {case} panics: {text}") };
        let shown = expanded.to_token_stream().to_string();
        match shown.contains("compile_error") {
            true => refused += 1,
            false => accepted += 1,
        }
        groups += usize::from(shown.contains("in_groups"));
        strips += usize::from(shown.contains("__strip"));
        // Accepted functions are Rust as far as syntax goes.
        let file = syn::parse2::<syn::File>(expanded);
        assert!(file.is_ok(), "case {case}: {:?}\n{text}\n{shown}", file.err());
    }
    // All of it happens often, or this tests nothing.
    assert!(accepted > 300 && refused > 500, "{accepted} accepted, {refused} refused");
    assert!(groups > 100 && strips > 50, "{groups} of groups, {strips} for strips");
}

#[test]
fn mutated_structs_never_panic() {
    let mut pool = vec![];
    let corpus: Vec<_> = STRUCTS.iter().map(|text| TokenStream::from_str(text).unwrap()).collect();
    corpus.iter().for_each(|tokens| flat(tokens.clone(), &mut pool));
    let (mut rng, mut accepted, mut refused) = (Rng(0x2545_f491_4f6c_dd1d), 0, 0);
    for case in 0..2_000 {
        let rarity = [10, 40, 160][rng.below(3)];
        let tokens = mutated(corpus[rng.below(corpus.len())].clone(), &pool, rarity, &mut rng);
        let text = tokens.to_string();
        let expanded = catch_unwind(AssertUnwindSafe(|| crate::derive::expand(tokens)));
        let Ok(expanded) = expanded else { panic!("case {case} panics: {text}") };
        match expanded.to_string().contains("compile_error") {
            true => refused += 1,
            false => accepted += 1,
        }
        let file = syn::parse2::<syn::File>(expanded);
        assert!(file.is_ok(), "case {case}: {:?}\n{text}", file.err());
    }
    assert!(accepted > 100 && refused > 500, "{accepted} accepted, {refused} refused");
}

/// Numbers that are too large for the tree are refused.
#[test]
fn what_is_too_large_is_refused() {
    let refused = |count: usize, part: &str| {
        let text = format!("fn k(i: Item) {{ {} }}", part.repeat(count));
        let tokens = TokenStream::from_str(&text).unwrap();
        expand(TokenStream::new(), tokens, Kind::Kernel).to_string().contains("more than 65,000")
    };
    for part in ["{ let a = true; }", "loop {}", "1;"] {
        assert!(!refused(1000, part) && refused(1 << 16, part), "{part}");
    }
}

/// Source that is nested so deep that the compiler's stack would overflow is refused.
#[test]
fn what_is_too_deep_is_refused() {
    let refused = |count: usize, term: &str| {
        let text = format!("fn k(i: Item) {{ let a = b{}; }}", term.repeat(count));
        let tokens = TokenStream::from_str(&text).unwrap();
        expand(TokenStream::new(), tokens, Kind::Kernel).to_string().contains("nested too deep")
    };
    let all = move || {
        for term in [" + c", " && c", ".abs()", " as f32", "[0]"] {
            assert!(!refused(390, term) && refused(500, term), "{term}");
        }
    };
    // As much as rustc has.
    std::thread::Builder::new().stack_size(8 << 20).spawn(all).unwrap().join().unwrap();
}

/// An attribute that would do nothing is an error, wherever it is.
#[test]
fn attributes_within_are_refused() {
    let refused = |text: &str| {
        let tokens = TokenStream::from_str(text).unwrap();
        expand(TokenStream::new(), tokens, Kind::Kernel).to_string().contains("do nothing")
    };
    assert!(!refused("#[cfg(x)] fn k(i: Item) { #[allow(y)] { let a = [C]; } }"));
    for text in [
        "fn k(i: Item) { #[cfg(x)] return; }",
        "fn k(i: Item) { loop { match 1 { #[cfg(x)] 1 => {} _ => {} } } }",
        "fn k(i: Item, #[cfg(x)] y: f32) {}",
        "fn k(i: Item) { let a = f([#[cfg_attr(x, y)] 1]); }",
    ] {
        assert!(refused(text), "{text}");
    }
}

/// Whether a kernel of this body, which has an `a`, has a form for strips.
fn strips(body: &str) -> bool {
    let text =
        format!("fn k(i: Item, n: usize, x: In<f32>, y: Out<f32>) {{ {body} y[i] = a[1]; }}");
    let tokens = TokenStream::from_str(&text).unwrap();
    let shown = expand(TokenStream::new(), tokens, Kind::Kernel).to_string();
    assert!(!shown.contains("compile_error"), "{shown}");
    shown.contains("__strip")
}

/// Lanes copy all of a variable that they keep, but of an array that is only indexed the element.
#[test]
fn arrays_have_strips_that_lanes_need_not_copy() {
    for body in [
        "let mut a = [0.0; 4]; for k in 0..n { a[1] += x[k]; }",
        "let mut a = [0.0; 4]; for k in 0..n { for j in 0..4 { a[3 - (j)] += x[k]; } }",
        "let a = f(n); for k in 0..n { let b = [x[i], x[k]]; y[i] = b[k % 2] * a[0]; }",
        "let mut a = [0.0; 4]; for k in 0..n { a[k % 4] += x[k]; }",
        "let mut a = [0.0; 40]; for k in 0..n { for j in 0..40 { a[j] += x[k]; } }",
        "let a = f(n); let mut s = 0.0; for k in 0..n { let j = 1; s += (a)[0][j]; } y[i] = s;",
        "let a = [0.0; 4]; for k in 0..n { let t = x[x[k] as usize]; y[i] = t; }",
    ] {
        assert!(strips(body), "{body}");
    }
    for body in [
        "let mut a = [0.0; 4]; for k in 0..n { a[k % 4] += x[k]; } let b = a; y[i] = b[0];",
        "let mut a = [0.0; 4]; for k in 0..n { a[k % 4] += x[k]; a = [1.0; 4]; }",
        "let a = f(n); let mut s = 0.0; for k in 0..n { s += a.all[k].x[0]; } y[i] = s;",
        "let a = [0.0; 4]; let mut s = 0.0; for k in 0..n { s += x[x[k] as usize] * x[i]; } y[i] = s;",
    ] {
        assert!(!strips(body), "{body}");
    }
}

/// A short loop is a part of what a lane does, also in a branch. A long one there has no strips.
#[test]
fn short_loops_beside_long_ones_leave_strips() {
    let strips_with = |range: &str| {
        strips(&format!(
            "let mut a = [0.0; 4]; for k in 0..n {{ if k > 2 {{ for d in {range} {{ a[1] += d as f32; }} }} }}"
        ))
    };
    for short in ["0..3", "-1..=1", "(-1)..2", "-8..8", "-20..=-5", "-1i32..=1", "(-3..3).rev()"] {
        assert!(strips_with(short), "{short}");
    }
    for long in ["0..17", "-8..=8", "-1..n", "-n..3", "-20..-3"] {
        assert!(!strips_with(long), "{long}");
    }
}
