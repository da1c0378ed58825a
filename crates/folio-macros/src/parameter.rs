//! Parameters: what each is, by its type, and how it is written.

use crate::body::{FLOATS_AND_INTEGERS, Special};
use crate::columns::Columns;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    GenericArgument, ParenthesizedGenericArguments, PathArguments, PathSegment, Type,
    TypeParamBound, parse_quote_spanned,
};

/// The roles of a parameter.
#[derive(Clone, Copy, PartialEq)]
pub enum Role {
    Item(u8),
    Group(u8),
    View,
    Local,
    Reduce,
    Value,
    /// `impl Fn(A) -> B`, of a device function.
    Closure,
}

pub struct Parameter {
    pub name: Ident,
    /// As it is written: `&T`, too.
    pub ty: Type,
    pub role: Role,
    /// The body may change it.
    pub mutable: bool,
    /// No source names it.
    pub hidden: Option<Hidden>,
}

/// The parameters that are no arguments.
pub enum Hidden {
    /// Of a parameter: its name, and its number among those that are memory.
    Claims { of: Ident, memory: usize },
    /// The end of the launch's items in one of the dimensions but the first.
    End,
    /// Which turn it is, of a kernel that runs twice.
    Turn,
}

/// The last part of a type's path, and its const argument if that is a literal.
pub fn path_of(ty: &Type) -> Option<(String, Option<u8>)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let mut number = None;
    if let PathArguments::AngleBracketed(arguments) = &last.arguments {
        for argument in &arguments.args {
            if let GenericArgument::Const(syn::Expr::Lit(lit)) = argument
                && let syn::Lit::Int(digits) = &lit.lit
            {
                number = digits.base10_parse().ok();
            }
        }
    }
    Some((last.ident.to_string(), number))
}

/// The type of a parameter that `print!` writes to: words that are changed atomically.
const LOG: &str = "Log";

/// The parameter is what `print!` writes to.
pub fn is_log(ty: &Type) -> bool {
    path_of(ty).is_some_and(|(name, _)| name == LOG)
}

/// The type that a parameter's elements are found by.
pub fn native_type(ty: &Type) -> Type {
    match is_log(ty) {
        true => parse_quote_spanned!(ty.span()=>
            ::folio::ir::device::Atomic<::folio::ir::device::rust::primitive::u32>
        ),
        false => ty.clone(),
    }
}

pub fn role_of(ty: &Type) -> (Role, Special) {
    let Some((name, rank)) = path_of(ty) else { return (Role::Value, Special::None) };
    let rank = rank.unwrap_or(1);
    match name.as_str() {
        "Item" => (Role::Item(rank), Special::None),
        "Group" => (Role::Group(rank), Special::Group(rank)),
        "In" => (Role::View, Special::None),
        "Out" | "InOut" | "OutRow" | "InOutRow" | "OutColumn" | "InOutColumn" | "Racy"
        | "RedBlack" | "Scatter" | "ScatterLast" => (Role::View, Special::Written),
        "OutChunk" => (Role::View, Special::Chunk),
        "OutGroup" | "InOutGroup" => (Role::View, Special::OfGroup),
        "OutTile" => (Role::View, Special::OfTile),
        "Atomic" | LOG => (Role::View, Special::Atomic),
        "Local" => (Role::Local, Special::Local),
        "LocalAtomic" => (Role::Local, Special::LocalAtomic),
        "Reduce" => (Role::Reduce, Special::Reduce),
        _ => (Role::Value, Special::None),
    }
}

/// The trait of what is passed for a view or reduction of this type.
pub fn argument_of(ty: &Type) -> Ident {
    let name = path_of(ty).map(|(name, _)| name).unwrap_or_default();
    let kind = match name.as_str() {
        "OutRow" | "InOutRow" => "Row",
        "OutColumn" | "InOutColumn" => "Column",
        "OutChunk" => "Chunk",
        "OutGroup" | "InOutGroup" => "OfGroup",
        "OutTile" => "OfTile",
        "ScatterLast" => "Scatter",
        name => name,
    };
    Ident::new(kind, ty.span())
}

/// A view whose parameters are type and rank.
pub fn role_is_plain(ty: &Type) -> bool {
    path_of(ty).is_some_and(|(name, _)| ["In", "Out", "InOut"].contains(&name.as_str()))
}

/// A view whose own element is written slot by slot.
pub fn is_chunk(ty: &Type) -> bool {
    path_of(ty).is_some_and(|(name, _)| name == "OutChunk")
}

/// A view that is used atomically.
pub fn is_atomic(ty: &Type) -> bool {
    path_of(ty).is_some_and(|(name, _)| name == "Atomic")
}

/// The rank of a view. A name for a number is none that is known here.
pub fn rank_of(ty: &Type) -> u8 {
    let Type::Path(path) = ty else { return 0 };
    let arguments = path.path.segments.last().map(|last| &last.arguments);
    match (arguments, path_of(ty)) {
        (_, Some((_, Some(rank)))) => rank,
        (Some(PathArguments::AngleBracketed(list)), _) if list.args.len() == 1 => 1,
        _ => 0,
    }
}

/// A view of numbers in several dimensions: its index is `(row, column)`.
#[derive(Clone, Copy)]
pub struct Grid {
    pub rank: u8,
    /// The view is used at the item only.
    pub own: bool,
}

/// Of this type, if it is one. Elements that are no numbers may have an index of their own:
/// `x[i][0]`.
pub fn grid_of(ty: &Type) -> Option<Grid> {
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(list) = &path.path.segments.last()?.arguments else {
        return None;
    };
    let Some(GenericArgument::Type(element)) = list.args.first() else { return None };
    let (element, _) = path_of(element)?;
    let name = path_of(ty)?.0;
    let (rank, own) = match name.as_str() {
        "In" | "Racy" | "Scatter" | "ScatterLast" => (rank_of(ty), false),
        "Out" | "InOut" => (rank_of(ty), true),
        "OutRow" | "InOutRow" | "OutColumn" | "InOutColumn" => (2, false),
        _ => return None,
    };
    (rank > 1 && FLOATS_AND_INTEGERS.contains(&element.as_str())).then_some(Grid { rank, own })
}

/// What a closure takes and gives, if the type is `impl Fn(..)`.
pub fn closure_of(ty: &Type) -> Option<&ParenthesizedGenericArguments> {
    let Type::ImplTrait(of) = ty else { return None };
    let (1, Some(TypeParamBound::Trait(bound))) = (of.bounds.len(), of.bounds.first()) else {
        return None;
    };
    match bound.path.segments.last() {
        Some(PathSegment { ident, arguments: PathArguments::Parenthesized(of) })
            if ident == "Fn" =>
        {
            Some(of)
        }
        _ => None,
    }
}

/// How a value is taken.
#[derive(Clone, Copy, PartialEq)]
pub enum By {
    Value,
    Reference,
    /// `&mut`
    Change,
}

/// The type of what is taken, without its reference, and how it is taken.
pub fn taken(ty: &Type) -> (By, &Type) {
    match ty {
        Type::Reference(of) if of.mutability.is_some() => (By::Change, &of.elem),
        Type::Reference(of) => (By::Reference, &of.elem),
        _ => (By::Value, ty),
    }
}

impl Parameter {
    /// The name as violations tell it.
    pub fn text(&self, columns: &[Columns]) -> String {
        if let Some(column) = columns.iter().find_map(|of| of.text(&self.name)) {
            return column;
        }
        match &self.hidden {
            Some(Hidden::Claims { of, .. }) => of.unraw().to_string(),
            _ => self.name.unraw().to_string(),
        }
    }

    pub fn is_memory(&self) -> bool {
        matches!(self.role, Role::View | Role::Reduce)
    }

    pub fn native(&self, grouped: bool) -> TokenStream {
        let ty = &self.ty;
        match self.role {
            Role::View => quote_spanned! {ty.span()=>
                <#ty as ::folio::ir::device::ViewParam>::View<'_>
            },
            Role::Local => quote_spanned! {ty.span()=>
                <#ty as ::folio::ir::device::LocalParam>::Array<'_>
            },
            Role::Reduce => {
                let name = if grouped { quote!(Gives) } else { quote!(Give) };
                quote_spanned! {ty.span()=>
                    ::folio::ir::device::#name<
                        '_,
                        <#ty as ::folio::ir::device::ReduceParam>::Value,
                        <#ty as ::folio::ir::device::ReduceParam>::Combine,
                    >
                }
            }
            Role::Item(_) | Role::Group(_) => self.place(),
            Role::Value => quote!(#ty),
            Role::Closure => self.closure().to_token_stream(),
        }
    }

    /// The name of a closure's type.
    pub fn closure(&self) -> Ident {
        let name = format!("__Of_{}", self.name.unraw());
        Ident::new(&name, Span::mixed_site().located_at(self.name.span()))
    }

    /// A closure's type, as a parameter of the function; and one that there is without a closure.
    pub fn closure_types(&self) -> Option<[TokenStream; 2]> {
        let ParenthesizedGenericArguments { inputs, output, .. } = closure_of(&self.ty)?;
        let name = self.closure();
        let fn_of = quote!(::folio::ir::device::rust::ops::Fn(#inputs) #output);
        Some([quote!(#name: #fn_of), quote!(fn(#inputs) #output)])
    }

    /// The type of an item or group of the rank that was read, whatever the user's name for it
    /// means: what is given for it where the body is probed is of the user's, so rustc says where
    /// the two differ.
    fn place(&self) -> TokenStream {
        let (name, rank) = match self.role {
            Role::Item(rank) => (quote!(Item), usize::from(rank)),
            Role::Group(rank) => (quote!(Group), usize::from(rank)),
            _ => return TokenStream::new(),
        };
        quote_spanned!(self.ty.span() => ::folio::ir::device::#name<'_, #rank>)
    }

    pub fn entry(&self) -> TokenStream {
        let ty = &self.ty;
        let of = |name: TokenStream| quote_spanned!(ty.span() => <#ty as ::folio::ir::device::#name>::entry);
        match self.role {
            Role::Item(rank) => quote!(|| __s::Entry::Item(#rank)),
            Role::Group(rank) => quote!(|| __s::Entry::Group(#rank)),
            Role::View => of(quote!(ViewParam)),
            Role::Local => of(quote!(LocalParam)),
            Role::Reduce => of(quote!(ReduceParam)),
            Role::Closure => quote!(|| __s::Entry::Closure),
            Role::Value => {
                let (by, ty) = taken(ty);
                let entry =
                    quote_spanned!(ty.span() => <#ty as ::folio::ir::device::Slotted>::entry);
                match by {
                    By::Change => quote!(|| ::folio::ir::device::place(#entry())),
                    By::Value | By::Reference => entry,
                }
            }
        }
    }

    /// A value for probing, which is not looked at.
    pub fn nothing(&self, grouped: bool) -> TokenStream {
        let ty = &self.ty;
        match self.role {
            Role::View => quote!(<#ty as ::folio::ir::device::ViewParam>::none()),
            // SAFETY: bodies that are probed use nothing.
            Role::Local => quote!(unsafe { <#ty as ::folio::ir::device::LocalParam>::none() }),
            Role::Reduce if grouped => quote!(unsafe { ::folio::ir::device::Gives::none() }),
            Role::Reduce => quote!(unsafe { ::folio::ir::device::Give::none() }),
            Role::Item(_) | Role::Group(_) => {
                let at = Span::mixed_site().located_at(ty.span());
                quote_spanned! {at=>
                    // SAFETY: zero bytes are an item or a group, and it computes nothing. That it
                    // is one is what rustc finds where it is given to the body.
                    unsafe { ::folio::ir::device::rust::mem::zeroed::<#ty>() }
                }
            }
            Role::Closure => {
                let given = closure_of(ty).map_or(0, |of| of.inputs.len());
                let given = (0..given).map(|_| quote!(_));
                quote!(|#(#given),*| ::folio::ir::device::nothing())
            }
            Role::Value => match taken(ty).0 {
                By::Value => quote!(::folio::ir::device::nothing()),
                By::Reference => quote!(&::folio::ir::device::nothing()),
                By::Change => quote!(&mut ::folio::ir::device::nothing()),
            },
        }
    }
}
