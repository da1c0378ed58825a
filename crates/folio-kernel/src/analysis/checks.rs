//! Which run-time checks are left of a kernel (KRN-10): indices that a launch may take out of
//! bounds, divisions of integers by what may be zero, assertions.
//!
//! The answer is for one launch. Indices are looked at along the flow of control ([`flow`]). A
//! divisor counts as proved where it is a constant: emitters leave out no other test of one.

use crate::flow;
use crate::interval::Interval;
use crate::ir::{Kernel, Let, ParamKind, Site, SiteId, Stmt, Value, walk};
use crate::launch::Launch;
use crate::op::{Binary, Compare, Op};
use std::fmt;

/// The kinds of checks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckKind {
    /// An index may be out of bounds.
    Index {
        /// The parameter's name; none for an array in a variable.
        param: Option<String>,
        /// By dimension: the least and the greatest index, as far as they are known.
        index: Vec<(i128, i128)>,
        /// By dimension.
        extent: Vec<u64>,
    },
    /// An index that no launch takes out of bounds, and that hosts test all the same: only indices
    /// that are sums and products of positions are left untested there.
    HostIndex {
        /// The parameter's name.
        param: String,
    },
    /// Nothing that is tested: for this, CPUs compute the kernel's loops item by item, without
    /// vectors over the items.
    ItemByItem,
    /// A divisor may be zero.
    Division,
    /// An `assert!` or a `panic!`; the site has the message.
    Assertion,
}

/// A run-time check that is left in a launch of a kernel, and where in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// The tested condition.
    pub kind: CheckKind,
    /// Where, and for assertions the message.
    pub site: Site,
}

impl Check {
    /// A check of this at this place.
    pub fn new(kind: CheckKind, site: Site) -> Check {
        Check { kind, site }
    }

    /// The place and what is tested, without what differs from launch to launch.
    pub fn brief(&self) -> String {
        let Check { kind, site: Site { file, line, column, .. } } = self;
        let what = match kind {
            CheckKind::Index { param: Some(name), .. } => format!("an index of `{name}`"),
            _ => return self.to_string(),
        };
        format!("{file}:{line}:{column}: {what} may be outside of its extent")
    }

    /// Only the Rust form has it, which hosts run.
    pub fn only_on_hosts(&self) -> bool {
        matches!(self.kind, CheckKind::HostIndex { .. } | CheckKind::ItemByItem)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Check { kind, site: Site { file, line, column, message } } = self;
        write!(f, "{file}:{line}:{column}: ")?;
        match kind {
            CheckKind::Index { param, index, extent } => match param {
                Some(name) => {
                    write!(f, "an index of `{name}`, ")?;
                    ranges(index, f)?;
                    write!(f, ", may be outside of its extent {extent:?}")
                }
                None => f.write_str("an index of an array in a variable may be outside"),
            },
            CheckKind::HostIndex { param } => {
                write!(f, "an index of `{param}`, which hosts test")
            }
            CheckKind::ItemByItem => f.write_str("for this, loops run item by item on CPUs"),
            CheckKind::Division => f.write_str("a divisor is no constant, and may be zero"),
            CheckKind::Assertion => {
                write!(f, "an assertion: {}", message.as_deref().unwrap_or("assertion failed"))
            }
        }
    }
}

/// The ranges of an index, by dimension.
fn ranges(index: &[(i128, i128)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (at, (least, most)) in index.iter().enumerate() {
        f.write_str(if at == 0 { "" } else { " and " })?;
        match (least, most) {
            (least, most) if least == most => write!(f, "{least}")?,
            // Types of indices end there: nothing is known.
            (_, most) if *most >= i128::from(i64::MAX) => f.write_str("any number")?,
            (least, most) => write!(f, "{least} to {most}")?,
        }
    }
    Ok(())
}

/// The checks of every launch: assertions, and divisions by something else than a constant.
pub fn of_kernel(kernel: &Kernel) -> Vec<Check> {
    let mut left = vec![];
    walk(&kernel.body, &mut |stmt| {
        let (kind, site) = match stmt {
            Stmt::Assert { site, .. } => (CheckKind::Assertion, Some(*site)),
            Stmt::Let(Let { op: Op::Binary(Binary::Div | Binary::Rem, a, b), site, .. })
                if is_integer(kernel, *a) && !is_constant(kernel, *b) =>
            {
                (CheckKind::Division, *site)
            }
            _ => return,
        };
        add(&mut left, kind, site_of(kernel, site));
    });
    left
}

/// The checks of indices that a launch keeps. `tested` tells of a place in the source whether hosts
/// test an index there whatever the launch.
pub fn of_launch(kernel: &Kernel, launch: &Launch, tested: &dyn Fn(&Site) -> bool) -> Vec<Check> {
    let found = flow::analyse(kernel, launch);
    let mut left = vec![];
    for seen in found.accesses.iter().filter(|seen| !seen.never) {
        let Some(param) = kernel.params.get(seen.param.index()) else { continue };
        let site = site_of(kernel, seen.site);
        if seen.proved && !tested(&site) {
            continue;
        }
        let kind = if seen.proved {
            CheckKind::HostIndex { param: param.name.clone() }
        } else {
            let ends = |range: &Interval| (range.lo, range.hi);
            let extent = |dim: usize| match param.kind {
                ParamKind::Local { len, .. } => u64::from(len),
                _ => launch.extent(seen.param, dim as u8).unwrap_or(0),
            };
            CheckKind::Index {
                param: Some(param.name.clone()),
                index: seen.indices.iter().map(ends).collect(),
                extent: (0..seen.indices.len()).map(extent).collect(),
            }
        };
        add(&mut left, kind, site);
    }
    for array in found.arrays.iter().filter(|array| !array.proved) {
        let kind = CheckKind::Index { param: None, index: vec![], extent: vec![] };
        add(&mut left, kind, site_of(kernel, array.site));
    }
    left
}

/// A read and a write at one place are one check.
fn add(left: &mut Vec<Check>, kind: CheckKind, site: Site) {
    let check = Check::new(kind, site);
    if !left.contains(&check) {
        left.push(check);
    }
}

fn site_of(kernel: &Kernel, site: Option<SiteId>) -> Site {
    let unknown = || Site { file: kernel.name.clone(), line: 0, column: 0, message: None };
    site.and_then(|site| kernel.sites.get(site.index())).cloned().unwrap_or_else(unknown)
}

fn is_integer(kernel: &Kernel, value: Value) -> bool {
    kernel.type_of(value).and_then(|ty| ty.scalar()).is_some_and(|scalar| scalar.is_int())
}

/// A number that is not zero, or one that is cast; or one that is 1 in place of zero.
fn is_constant(kernel: &Kernel, value: Value) -> bool {
    match definition(kernel, value) {
        Some(Op::Const(scalar, bits)) => scalar.int(*bits) != 0,
        Some(Op::Cast(from, _) | Op::Bits(from, _)) => {
            is_integer(kernel, *from) && is_constant(kernel, *from)
        }
        Some(Op::Binary(Binary::Or, number, least)) => is_zero_test(kernel, *least, *number),
        _ => false,
    }
}

/// It is 1 where the number is zero.
fn is_zero_test(kernel: &Kernel, value: Value, number: Value) -> bool {
    let Some(Op::Cast(test, _)) = definition(kernel, value) else { return false };
    let Some(Op::Compare(Compare::Eq, of, zero)) = definition(kernel, *test) else { return false };
    let is_zero = matches!(definition(kernel, *zero), Some(Op::Const(_, 0)));
    *of == number && is_zero
}

fn definition(kernel: &Kernel, value: Value) -> Option<&Op> {
    let mut definition = None;
    walk(&kernel.body, &mut |stmt| match stmt {
        Stmt::Let(define) if define.value == value => definition = Some(&define.op),
        _ => {}
    });
    definition
}
