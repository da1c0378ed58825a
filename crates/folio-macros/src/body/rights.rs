//! The rights that a view's name tells: reading, writing, and at which index. Rustc would say that
//! a trait is missing; here it is told at the index, with what to write instead. Rights without
//! such a name are left to rustc.

use super::{Both, Walk};
use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, ExprIndex, GenericArgument, PathArguments, Type};

/// The use of an element.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Access {
    Read,
    Write,
    /// Read, and a part of it written.
    Change,
}

/// Who has an element for itself.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    /// Everyone reads all of them.
    All,
    Item,
    Row,
    Column,
    Group,
}

/// A view, as its type is written.
pub struct Rights {
    name: String,
    /// Its other arguments, as text.
    element: String,
    owner: Owner,
    reads: bool,
    writes: bool,
    /// Not known where it is a name: 0.
    rank: u8,
}

impl Rights {
    /// The rights of this type, if it is a view's.
    pub fn of(ty: &Type) -> Option<Rights> {
        let Type::Path(path) = ty else { return None };
        let last = path.path.segments.last()?;
        let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
        let Some(GenericArgument::Type(element)) = list.args.first() else { return None };
        let name = last.ident.to_string();
        let (owner, reads, writes) = match name.as_str() {
            "In" => (Owner::All, true, false),
            "Out" | "OutChunk" => (Owner::Item, false, true),
            "InOut" => (Owner::Item, true, true),
            "OutRow" => (Owner::Row, false, true),
            "InOutRow" => (Owner::Row, true, true),
            "OutColumn" => (Owner::Column, false, true),
            "InOutColumn" => (Owner::Column, true, true),
            "OutGroup" => (Owner::Group, false, true),
            "InOutGroup" => (Owner::Group, true, true),
            "Scatter" | "ScatterLast" => (Owner::All, false, true),
            _ => return None,
        };
        let rank = match owner {
            Owner::Row | Owner::Column => 2,
            // Its rank comes after the number of its slots.
            _ if name == "OutChunk" => u8::from(list.args.len() == 2),
            _ => crate::parameter::rank_of(ty),
        };
        let element = element.to_token_stream().to_string();
        Some(Rights { name, element, owner, reads, writes, rank })
    }

    /// The type to declare for this access, too.
    fn instead(&self, access: Access) -> Option<String> {
        let name = match (self.name.as_str(), access) {
            ("In", Access::Write) => "Out",
            ("In" | "Out", _) => "InOut",
            ("OutRow", _) => "InOutRow",
            ("OutColumn", _) => "InOutColumn",
            ("OutGroup", _) => "InOutGroup",
            _ => return None,
        };
        let rank = match (self.owner, self.rank) {
            (Owner::Row | Owner::Column, _) | (_, 0 | 1) => String::new(),
            (_, rank) => format!(", {rank}"),
        };
        Some(format!("{name}<{}{rank}>", self.element))
    }
}

impl Walk {
    /// The view of this name.
    fn rights_of(&self, of: &Expr) -> Option<&Rights> {
        let number = self.number(of)?;
        self.rights.iter().find(|(at, _)| *at == number).map(|(_, rights)| rights)
    }

    /// An own element of an `Out`, or a field of it: its fields are written one by one.
    pub(super) fn is_in_fields(&self, of: &Expr) -> bool {
        match of {
            Expr::Paren(inner) => self.is_in_fields(&inner.expr),
            Expr::Group(inner) => self.is_in_fields(&inner.expr),
            Expr::Field(field) => self.is_in_fields(&field.base),
            Expr::Index(index) => self.rights_of(&index.expr).is_some_and(|of| of.name == "Out"),
            _ => false,
        }
    }

    /// Refuses an access that the view does not allow, as far as names tell.
    pub(super) fn refuse_access(&mut self, index: &ExprIndex, access: Access) -> Option<Both> {
        let rights = self.rights_of(&index.expr)?;
        let (at, text) = self
            .mode(rights, index, access)
            .or_else(|| self.dimensions(rights, index))
            .or_else(|| self.ownership(rights, index, access))?;
        Some(self.refuse(at, text))
    }

    /// An access of a mode that the view does not have.
    fn mode(&self, rights: &Rights, index: &ExprIndex, access: Access) -> Option<(Span, String)> {
        let Rights { name, reads, writes, .. } = rights;
        let only = match access {
            Access::Read | Access::Change if !reads => "written",
            Access::Write | Access::Change if !writes => "read",
            _ => return None,
        };
        let of = index.expr.to_token_stream();
        let does = match access {
            Access::Read => "read it, too",
            Access::Write => "write all of it",
            Access::Change => "change it",
        };
        let text = match rights.instead(access) {
            Some(ty) => {
                format!("`{of}` is `{name}`, which is only {only}; to {does}, write `{of}: {ty}`")
            }
            None if self.number(&index.expr).is_some_and(|at| self.is_scattered(at)) => format!(
                "`{of}` is `{name}`, of which items write whole elements, and read none; pass what they read as an `In`, and write `{of}[k] = ..`"
            ),
            None => format!(
                "`{of}` is `{name}`, which is only {only}; keep the values in an array, and write that: `{of}[i] = own`"
            ),
        };
        Some((index.expr.span(), text))
    }

    /// An index with another number of dimensions.
    fn dimensions(&self, rights: &Rights, index: &ExprIndex) -> Option<(Span, String)> {
        let Rights { name, element, owner, rank, .. } = rights;
        if *rank == 0 || !matches!(owner, Owner::All | Owner::Item) {
            return None;
        }
        let of = index.expr.to_token_stream();
        let numbers = |count: u8| match count {
            1 => format!("`{of}[k]`"),
            2 => format!("`{of}[(row, column)]`"),
            _ => format!("`{of}[(plane, row, column)]`"),
        };
        let own = match &*index.index {
            Expr::Tuple(tuple) => tuple.elems.len(),
            place => match self.rank_of_item(place) {
                Some(own) if own == *rank => return None,
                Some(own) => {
                    let ty = match own {
                        1 => format!("{name}<{element}>"),
                        _ => format!("{name}<{element}, {own}>"),
                    };
                    let (place, count) = (place.to_token_stream(), dimensions(*rank));
                    let also = match owner {
                        Owner::All => format!(", or {}", numbers(*rank)),
                        _ => String::new(),
                    };
                    let text = format!(
                        "`{of}` has {count}, and `{place}` has {own}; write `{of}: {ty}`, or `{place}: Item<{rank}>`{also}"
                    );
                    return Some((index.index.span(), text));
                }
                None if is_number(place) => 1,
                None => return None,
            },
        };
        if own == usize::from(*rank) || *owner != Owner::All {
            return None;
        }
        let text = format!("`{of}` has {}; write {}", dimensions(*rank), numbers(*rank));
        Some((index.index.span(), text))
    }

    /// An element of another item, whatever the numbers are.
    fn ownership(
        &self,
        rights: &Rights,
        index: &ExprIndex,
        access: Access,
    ) -> Option<(Span, String)> {
        let (of, place) = (index.expr.to_token_stream(), &*index.index);
        let foreign = match (rights.owner, place) {
            (Owner::All, _) => false,
            (Owner::Row, Expr::Tuple(tuple)) => {
                tuple.elems.first().is_some_and(|row| self.is_value(row))
            }
            (Owner::Column, Expr::Tuple(tuple)) => {
                tuple.elems.last().is_some_and(|column| self.is_value(column))
            }
            (Owner::Row | Owner::Column, _) => {
                self.is_value(place) || self.rank_of_item(place).is_some()
            }
            _ => self.is_value(place),
        };
        // Of a kernel without item that is said.
        if !foreign || !self.placed {
            return None;
        }
        let item = match self.item_name() {
            Some(name) => name,
            None => "i".to_owned(),
        };
        let text = match (rights.owner, access) {
            (Owner::Item, _) if self.is_uniform_code() => format!(
                "items have the elements of `{of}`, and this is the group's code; write them in a phase, `g.each(|i| .. {of}[i] ..)`, or \
                 declare `OutGroup`, of which a group has one element, `{of}[g]`"
            ),
            (Owner::Group, _) => {
                format!("a group has its own element of `{of}` alone; write the group, `{of}[g]`")
            }
            (Owner::Row, _) => format!(
                "an item has its own row of `{of}` alone; write the item first, `{of}[({item}, k)]`"
            ),
            (Owner::Column, _) => format!(
                "an item has its own column of `{of}` alone; write the item last, `{of}[(k, {item})]`"
            ),
            (_, Access::Read) => format!(
                "others write their elements of `{of}` meanwhile, so an item reads its own alone, `{of}[{item}]`; pass what it \
                 reads elsewhere as an `In` of another buffer"
            ),
            _ => format!(
                "an item writes its own element of `{of}` alone; write the item, `{of}[{item}]`, and gather, `x[from[{item}]]`; \
                 what items write anywhere is `Scatter`, if no two write one element, or `Atomic`"
            ),
        };
        Some((place.span(), text))
    }

    /// The item's name, if there is an item here.
    fn item_name(&self) -> Option<String> {
        let number = self.known.item_number()?;
        self.scopes.name_of(number).map(ToString::to_string)
    }

    /// An index that is no item and no group for sure.
    fn is_value(&self, place: &Expr) -> bool {
        match place {
            Expr::Paren(inner) => self.is_value(&inner.expr),
            Expr::Group(inner) => self.is_value(&inner.expr),
            Expr::Path(_) => self.number(place).is_some_and(|number| self.is_number(number)),
            Expr::Tuple(_) | Expr::Index(_) | Expr::MethodCall(_) => true,
            place => is_number(place),
        }
    }
}

/// An expression that is a number by its form.
fn is_number(place: &Expr) -> bool {
    match place {
        Expr::Lit(_) | Expr::Binary(_) | Expr::Unary(_) | Expr::Cast(_) => true,
        Expr::MethodCall(call) => call.method == "index",
        _ => false,
    }
}

fn dimensions(rank: u8) -> String {
    match rank {
        1 => "one dimension".to_owned(),
        rank => format!("{rank} dimensions"),
    }
}
