//! Long chains of branches, less deep: what follows a branch that leaves is inside of the other
//! branch for most compilers, and lavapipe (Mesa 22.3) forgets branches beyond the 80th that are
//! inside of each other.
//!
//! A chain of `else if` becomes a block whose arms leave it. Statements of a body of which many may
//! leave it are put into blocks of some: out of such a block leads one way, whoever takes it.

use crate::ir::{Body, Kernel, Label, Stmt, Value, walk};
use crate::op::Op;
use std::collections::BTreeSet;

/// Branches that may be inside of each other.
const DEEP: usize = 24;

/// The kernel with less deep branches.
pub fn flattened(kernel: Kernel) -> Kernel {
    let mut flat = Flat { labels: kernel.labels };
    let body = flat.body(kernel.body);
    Kernel { body, labels: flat.labels, ..kernel }
}

struct Flat {
    labels: u32,
}

/// How many arms a chain has.
fn arms(mut stmt: &Stmt) -> usize {
    let mut count = 0;
    while let Stmt::If { otherwise, .. } = stmt {
        count += 1;
        match otherwise.last() {
            Some(next) => stmt = next,
            None => break,
        }
    }
    count
}

/// Whether statements behind this one may not be reached.
fn leaves(stmt: &Stmt) -> bool {
    let mut leaves = false;
    walk(std::slice::from_ref(stmt), &mut |inner| {
        use Stmt::{Assert, Break, Continue, Return};
        leaves |= matches!(inner, Break(_) | Continue(_) | Return | Assert { .. });
    });
    leaves
}

/// The values that statements define for those behind them; literals are everywhere.
fn defined(stmts: &[Stmt]) -> BTreeSet<Value> {
    let value = |stmt: &Stmt| match stmt {
        Stmt::Let(define) if !matches!(define.op, Op::Const(..) | Op::Zero(_)) => {
            Some(define.value)
        }
        _ => None,
    };
    stmts.iter().filter_map(value).collect()
}

fn used(stmts: &[Stmt]) -> BTreeSet<Value> {
    let mut all = BTreeSet::new();
    walk(stmts, &mut |stmt| all.extend(stmt.operands()));
    all
}

impl Flat {
    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    fn body(&mut self, body: Body) -> Body {
        let mut all = vec![];
        for stmt in body {
            let mut own = if arms(&stmt) > DEEP { self.chain(stmt) } else { stmt };
            for inner in own.bodies_mut() {
                *inner = self.body(std::mem::take(inner));
            }
            all.push(own);
        }
        self.pieces(all)
    }

    /// A chain as a block.
    fn chain(&mut self, mut stmt: Stmt) -> Stmt {
        let label = self.label();
        let mut body = vec![];
        while let Stmt::If { cond, mut then, mut otherwise } = stmt {
            then.push(Stmt::Break(label));
            body.push(Stmt::If { cond, then, otherwise: vec![] });
            let last = otherwise.pop();
            body.extend(otherwise);
            match last {
                Some(next) => stmt = next,
                None => return Stmt::Block { label, body, product: None },
            }
        }
        body.push(stmt);
        Stmt::Block { label, body, product: None }
    }

    /// A body in blocks of so many statements that may leave it, where what these define is not
    /// used behind them.
    fn pieces(&mut self, body: Body) -> Body {
        if body.iter().filter(|stmt| leaves(stmt)).count() <= DEEP {
            return body;
        }
        let (mut done, mut piece, mut count): (Body, Body, usize) = (vec![], vec![], 0);
        let mut rest = std::collections::VecDeque::from(body);
        while let Some(stmt) = rest.pop_front() {
            count += usize::from(leaves(&stmt));
            piece.push(stmt);
            if count >= DEEP && !rest.is_empty() {
                let behind = used(rest.make_contiguous());
                if defined(&piece).is_disjoint(&behind) {
                    let label = self.label();
                    done.push(Stmt::Block {
                        label,
                        body: std::mem::take(&mut piece),
                        product: None,
                    });
                    count = 0;
                }
            }
        }
        done.extend(piece);
        done
    }
}
