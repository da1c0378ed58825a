//! Faults of kernels, and their places.

use crate::ir::{Label, ParamId, SiteId, Value, VarId};
use crate::op::{Combine, Query};
use crate::types::{Scalar, Type};

/// A fault of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// An operand of another type than the operation takes.
    #[error("{what} has type {found}, but {wanted} is needed")]
    Operand {
        /// Which operand.
        what: &'static str,
        /// Its type.
        found: String,
        /// The type that it ought to be.
        wanted: String,
    },
    /// An operation that this type does not have.
    #[error("`{op}` is not defined for {ty}")]
    NotDefined {
        /// The operation.
        op: String,
        /// The type.
        ty: String,
    },
    /// Another number of operands, parts or indices.
    #[error("{what}: {found} given, {wanted} needed")]
    Count {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there ought to be.
        wanted: usize,
    },
    /// A part that the type does not have.
    #[error("{ty} has no part {part}")]
    NoPart {
        /// The type.
        ty: String,
        /// The part.
        part: u32,
    },
    /// A value that is not there, or not visible here.
    #[error("%{} is not visible here", .0.0)]
    Unknown(Value),
    /// A value that is defined twice.
    #[error("%{} is defined twice", .0.0)]
    Twice(Value),
    /// A value with another type than its definition gives.
    #[error("%{} is declared {declared}, but its definition is {found}", .value.0)]
    Declared {
        /// The value.
        value: Value,
        /// As declared.
        declared: String,
        /// As defined.
        found: String,
    },
    /// No such parameter.
    #[error("there is no parameter {}", .0.0)]
    NoParam(ParamId),
    /// The parameter is of another kind.
    #[error("parameter {} ({name}) is no {wanted}", .param.0)]
    ParamKind {
        /// The parameter.
        param: ParamId,
        /// Its name.
        name: String,
        /// The kind that it ought to be.
        wanted: &'static str,
    },
    /// The parameter may not be read, written or accessed so.
    #[error("parameter {} ({name}) cannot be {what}", .param.0)]
    Access {
        /// The parameter.
        param: ParamId,
        /// Its name.
        name: String,
        /// The access.
        what: &'static str,
    },
    /// No such variable.
    #[error("there is no variable {}", .0.0)]
    NoVar(VarId),
    /// A uniform variable stored to by items, or an item's variable in uniform code.
    #[error("variable {} ({name}): {what}", .var.0)]
    VarUse {
        /// The variable.
        var: VarId,
        /// Its name.
        name: String,
        /// The fault.
        what: &'static str,
    },
    /// A label that does not enclose this, or that is no loop's.
    #[error("label {} does not name {wanted} around this", .label.0)]
    Label {
        /// The label.
        label: Label,
        /// The kind of statement that it ought to name.
        wanted: &'static str,
    },
    /// A label or its loop occurs twice.
    #[error("label {} is used twice", .0.0)]
    LabelTwice(Label),
    /// No such site.
    #[error("there is no site {}", .0.0)]
    NoSite(SiteId),
    /// A type that this kernel has not.
    #[error("there is no type {0:?}")]
    NoType(Type),
    /// A struct's layout contradicts itself, or an array is empty or too large.
    #[error("type {0}: {1}")]
    Layout(u32, &'static str),
    /// A dimension or rank beyond what there is.
    #[error("{what} {found} of a rank of {rank}")]
    Rank {
        /// The number's noun.
        what: &'static str,
        /// Its number.
        found: u8,
        /// The rank.
        rank: u8,
    },
    /// A question that has no answer here.
    #[error("`{0}` has no answer here")]
    Query(Query),
    /// A statement where it is not allowed.
    #[error("{0}")]
    Misplaced(&'static str),
    /// A combination without identity.
    #[error("no `{0}` of {1}")]
    Combine(Combine, Scalar),
    /// A parameter's declaration contradicts itself.
    #[error("parameter {}: {what}", .param.0)]
    Declaration {
        /// The parameter.
        param: ParamId,
        /// The fault.
        what: &'static str,
    },
    /// An `Out` of which not every element is shown to be written (KRN-02).
    #[error("{}", not_written(.name, *.owner, .field.as_deref()))]
    NotWritten {
        /// The parameter's name.
        name: String,
        /// Who has an element.
        owner: crate::ir::Owner,
        /// A field that is not written, where others are.
        field: Option<String>,
    },
    /// A store that may touch what is not the item's own (KRN-02).
    #[error("`{name}` is written at an index that is not shown to be the {owner}'s own")]
    NotOwn {
        /// The parameter's name.
        name: String,
        /// Who owns.
        owner: crate::ir::Owner,
    },
}

/// A fault, with its kernel and place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}`, {at}: {fault}")]
pub struct VerifyError {
    /// The kernel.
    pub kernel: String,
    /// The statement: its place in the body and its text; or which declaration.
    pub at: String,
    /// The fault.
    pub fault: Fault,
}

fn not_written(name: &str, owner: crate::ir::Owner, field: Option<&str>) -> String {
    use crate::ir::Owner;
    let line = |kind: &str, line: &str, extent: u8, place: &str| {
        format!(
            "`{name}` is `Out{kind}`, but not every path writes all of the item's {line}: write it in a loop over the \
             {line}, `for k in 0..{name}.shape()[{extent}] {{ {name}[{place}] = ..; }}`, or make it `InOut{kind}`"
        )
    };
    match owner {
        Owner::Row => line("Row", "row", 1, "(i, k)"),
        Owner::Column => line("Column", "column", 0, "(k, i)"),
        _ => {
            let left = field.map_or(String::new(), |field| format!(" (`{field}` is left out)"));
            format!(
                "`{name}` is `Out`, but not every path writes all of its element{left}; make it `InOut`"
            )
        }
    }
}
