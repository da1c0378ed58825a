//! Signatures: what functions take and give, and what their attributes say.

use crate::body::{NOTHING_RETURNED, Rights, Special, Walk};
use crate::columns::Columns;
use crate::function::{Kind, NAMED};
use crate::parameter::{
    By, Parameter, Role, closure_of, grid_of, is_chunk, is_log, native_type, path_of, rank_of,
    role_is_plain, role_of, taken,
};
use crate::refused::{refuse_atomic, refuse_in_memory, refuse_rank, refuse_type};
use crate::{combine, conditions, names};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Expr, FnArg, GenericParam, Meta, MetaNameValue, Pat, Receiver, ReturnType, Token, Type,
    TypeReference,
};

/// What a kernel asks of its floats: the variant of `folio_kernel::source::Floats`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Floats {
    #[default]
    Exact,
    Contracted,
    Fast,
}

impl ToTokens for Floats {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(
            Ident::new(&format!("{self:?}"), proc_macro2::Span::call_site()).into_token_stream(),
        );
    }
}

/// The arguments of the attribute.
#[derive(Default)]
pub struct Asked {
    /// The group's size: `group = 256`, `group = [16, 16]`.
    group: Vec<Expr>,
    /// The threads of a block, in the same form.
    block: Vec<Expr>,
    /// `contract` or `fast`.
    floats: Floats,
    /// `checked`.
    pub checked: bool,
    /// `deny_checks`.
    pub deny_checks: bool,
}

impl Asked {
    pub fn read(arguments: TokenStream, kind: Kind, walk: &mut Walk) -> Asked {
        let mut asked = Asked { checked: all_are_checked(), ..Asked::default() };
        if arguments.is_empty() {
            return asked;
        }
        let span = arguments.span();
        let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
        for argument in parser.parse2(arguments).into_iter().flatten() {
            match argument {
                Meta::NameValue(MetaNameValue { path, value, .. })
                    if path.is_ident("group") && kind == Kind::Kernel && asked.group.is_empty() =>
                {
                    asked.group = sizes(value);
                }
                Meta::NameValue(MetaNameValue { path, value, .. })
                    if path.is_ident("block") && kind == Kind::Kernel && asked.block.is_empty() =>
                {
                    asked.block = sizes(value);
                }
                Meta::Path(path) if path.is_ident("contract") && kind == Kind::Kernel => {
                    asked.floats = asked.floats.max(Floats::Contracted);
                }
                Meta::Path(path) if path.is_ident("fast") && kind == Kind::Kernel => {
                    asked.floats = Floats::Fast;
                }
                Meta::Path(path) if path.is_ident("checked") => {
                    asked.checked = true;
                }
                Meta::Path(path) if path.is_ident("deny_checks") && kind == Kind::Kernel => {
                    asked.deny_checks = true;
                }
                _ => {
                    walk.refuse(span, Asked::what(kind));
                    return Asked::default();
                }
            }
        }
        for size in asked.group.iter().chain(&asked.block) {
            names::refuse(size.to_token_stream(), &mut HashSet::new(), &mut walk.errors);
        }
        if asked.group.is_empty() && !asked.is_more() {
            walk.refuse(span, Asked::what(kind));
        }
        asked
    }

    /// Something beside the size of groups.
    fn is_more(&self) -> bool {
        let sized = !self.block.is_empty();
        self.floats != Floats::Exact || self.checked || self.deny_checks || sized
    }

    fn what(kind: Kind) -> &'static str {
        match kind {
            Kind::Kernel => {
                "the arguments are a group's size, `group = 256` or `group = [16, 16]`, the threads of a block, \
                 `block = 128` or `block = [4, 32]`, `contract`, `fast`, `checked` and `deny_checks`"
            }
            Kind::Device | Kind::Method => "the argument is `checked`",
        }
    }
}

fn sizes(value: Expr) -> Vec<Expr> {
    match value {
        Expr::Array(sizes) => sizes.elems.into_iter().collect(),
        size => vec![size],
    }
}

/// The variable that makes all functions of a build `checked`.
pub const CHECKED: &str = "FOLIO_CHECKED";

fn all_are_checked() -> bool {
    std::env::var(CHECKED).is_ok_and(|value| !["", "0"].contains(&value.as_str()))
}

pub struct Signature {
    pub parameters: Vec<Parameter>,
    /// Items of a group, if the attribute says.
    pub group: Vec<Expr>,
    /// Threads of a block, if the attribute says.
    pub block: Vec<Expr>,
    /// What it asks of floats.
    pub floats: Floats,
    /// Whether it asks that no check is left.
    pub deny_checks: bool,
    /// Arguments that are several views.
    pub columns: Vec<Columns>,
}

impl Signature {
    pub fn read(
        signature: &syn::Signature,
        kind: Kind,
        Asked { group, block, floats, deny_checks, .. }: Asked,
        walk: &mut Walk,
    ) -> Signature {
        refuse_modifiers(signature, walk);
        refuse_generics(signature, kind, walk);
        refuse_result(signature, kind, walk);
        walk.scopes.enter();
        let arguments = signature.inputs.iter();
        let mut parameters: Vec<_> =
            arguments.filter_map(|argument| parameter(argument, kind, walk)).collect();
        walk.hidden(&mut parameters);
        if place(signature, kind, &parameters, &group, walk) {
            walk.begin_group();
        }
        let plain = parameters.iter().all(|p| match p.role {
            Role::Item(_) => true,
            Role::View => role_is_plain(&p.ty) || is_chunk(&p.ty),
            Role::Value => !p.mutable,
            _ => false,
        });
        if let (Kind::Kernel, true, Some(item)) = (kind, plain, parameters.first()) {
            walk.plan.begin(&item.name);
        }
        // The table has the parameters and the result first.
        walk.first = parameters.len() + 1;
        refuse_block(&block, &parameters, walk);
        Signature { parameters, group, block, floats, deny_checks, columns: vec![] }
    }

    pub fn has_views(&self) -> bool {
        self.parameters.iter().any(|p| !matches!(p.role, Role::Value | Role::Closure))
    }

    /// The types of closures, as parameters of the Rust form; those that there are without one; and
    /// a place for each.
    pub fn closures(&self) -> [Vec<TokenStream>; 3] {
        let all: Vec<_> = self.parameters.iter().filter_map(Parameter::closure_types).collect();
        let places = all.iter().map(|_| quote!(_)).collect();
        let (params, without) = all.into_iter().map(|[param, without]| (param, without)).unzip();
        [params, without, places]
    }

    pub fn names(&self) -> Vec<&Ident> {
        self.parameters.iter().map(|p| &p.name).collect()
    }

    /// The types that the Rust form takes.
    pub fn types(&self) -> Vec<TokenStream> {
        self.parameters.iter().map(|p| p.native(self.grouped())).collect()
    }

    /// Parameters that the body may change. Of views it is the macro that says so, not the user.
    pub fn bindings(&self) -> TokenStream {
        let mutable =
            self.parameters.iter().filter(|p| p.mutable).map(|Parameter { name, role, .. }| {
                let allowed =
                    (*role != Role::Value).then(|| quote!(#[allow(unused_mut, reason = "a view")]));
                quote!(#allowed let mut #name = #name;)
            });
        quote!(#(#mutable)*)
    }

    /// A kernel of groups.
    pub fn grouped(&self) -> bool {
        self.parameters.iter().any(|p| matches!(p.role, Role::Group(_)))
    }

    /// The rank of a kernel's item or group.
    pub fn rank(&self) -> Option<usize> {
        self.parameters.iter().find_map(|p| match p.role {
            Role::Item(rank) | Role::Group(rank) => Some(usize::from(rank)),
            _ => None,
        })
    }
}

/// Refuses modifiers that functions of devices do not have.
fn refuse_modifiers(signature: &syn::Signature, walk: &mut Walk) {
    if let Some(token) = &signature.asyncness {
        walk.refuse(token.span(), "kernels cannot be async");
    }
    if let Some(token) = &signature.unsafety {
        walk.refuse(token.span(), "kernels are safe functions; use an opaque kernel");
    }
    if let Some(abi) = &signature.abi {
        walk.refuse(abi.span(), "kernels have no ABI; remove `extern`");
    }
    if let Some(token) = &signature.variadic {
        walk.refuse(token.span(), "kernels take a fixed number of parameters");
    }
}

fn refuse_generics(signature: &syn::Signature, kind: Kind, walk: &mut Walk) {
    for parameter in &signature.generics.params {
        match parameter {
            GenericParam::Lifetime(lifetime) => {
                let text = "kernels cannot have lifetimes; values are copied";
                walk.refuse(lifetime.span(), text);
            }
            GenericParam::Type(ty) if combine::is_one(&ty.ident) => {
                let text = format!(
                    "`{}` is what reductions combine with; give the type parameter another name",
                    ty.ident
                );
                walk.refuse(ty.span(), text);
            }
            GenericParam::Type(ty)
                if kind != Kind::Method && !conditions::is_bound(ty, &signature.generics) =>
            {
                let name = &ty.ident;
                let text = match ty.bounds.is_empty() {
                    true => format!("say what `{name}` can be: `{name}: Number`"),
                    false => format!(
                        "traits of the standard library say nothing of `{name}` to a device; write `{name}: Number`, which \
                         has its operators, `{name}: folio::Float` or `{name}: folio::Int`"
                    ),
                };
                walk.refuse(name.span(), text);
            }
            GenericParam::Type(_) | GenericParam::Const(_) => {}
        }
    }
}

fn refuse_result(signature: &syn::Signature, kind: Kind, walk: &mut Walk) {
    let ReturnType::Type(_, ty) = &signature.output else { return };
    if kind == Kind::Kernel {
        walk.refuse(ty.span(), NOTHING_RETURNED);
        return;
    }
    if role_of(ty).0 != Role::Value {
        let text = "a device function gives a value: a number, an array, a tuple, a struct; index views, and give \
            `i.index()` for an item";
        walk.refuse(ty.span(), text);
    }
    refuse_type(ty, walk);
}

/// A parameter, if it can be one, which is bound.
fn parameter(argument: &FnArg, kind: Kind, walk: &mut Walk) -> Option<Parameter> {
    let typed = match argument {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(of) if kind == Kind::Method && is_plain(of) => {
            let name = Ident::from(of.self_token);
            let changed = of.reference.is_none() && of.mutability.is_some();
            let at = walk.parameter(&name, Special::None, changed);
            let own = Type::Verbatim(quote_spanned!(of.self_token.span => Self));
            let ty = match &of.reference {
                None => own,
                Some((and_token, _)) => Type::Reference(TypeReference {
                    and_token: *and_token,
                    lifetime: None,
                    mutability: of.mutability,
                    elem: Box::new(own),
                }),
            };
            walk.takes(at, taken(&ty).0);
            // A receiver cannot be bound again.
            let (role, mutable) = (Role::Value, false);
            return Some(Parameter { name, ty, role, mutable, hidden: None });
        }
        FnArg::Receiver(of) => {
            let text = match kind {
                Kind::Method => "take `self`, `&self` or `&mut self`",
                _ => "`self` is for functions in an `impl` with #[device_fn]",
            };
            walk.refuse(of.span(), text);
            return None;
        }
    };
    let name = match &*typed.pat {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => name,
        other => {
            walk.refuse(other.span(), "give the parameter a name");
            return None;
        }
    };
    let text = name.ident.unraw().to_string();
    if text.starts_with("__") && !text.starts_with(NAMED) {
        let text = "names that begin with `__` are the macro's; give the parameter another";
        walk.refuse(name.span(), text);
    }
    let before = walk.errors.count();
    let closure = closure_of(&typed.ty).filter(|_| kind == Kind::Device);
    let (by, ty) = match kind {
        Kind::Kernel => (By::Value, &*typed.ty),
        Kind::Device | Kind::Method => lent(&typed.ty),
    };
    match closure {
        None => refuse_types(ty, kind, walk),
        Some(of) => {
            of.inputs.iter().for_each(|ty| refuse_type(ty, walk));
            if let ReturnType::Type(_, ty) = &of.output {
                refuse_type(ty, walk);
            }
        }
    }
    if let (By::Change, Some(token)) = (by, &name.mutability) {
        walk.refuse(token.span(), "what it refers to can be changed; leave out this `mut`");
    }
    let spoilt = walk.errors.count() > before;
    let (role, special) = match closure {
        Some(_) => (Role::Closure, Special::None),
        None => role_of(&typed.ty),
    };
    // Writing through a view takes it as mutable.
    let mutable = matches!(role, Role::View | Role::Local) || name.mutability.is_some();
    let at = walk.parameter(&name.ident, special, role == Role::Value && mutable);
    walk.takes(at, by);
    if closure.is_some() {
        walk.closures.insert(at);
    }
    if role == Role::Item(1) {
        walk.item = Some(at);
    }
    walk.spoilt.extend(spoilt.then_some(at));
    walk.grids.extend(grid_of(&typed.ty).map(|grid| (at, grid)));
    walk.rights.extend(Rights::of(&typed.ty).map(|rights| (at, rights)));
    walk.kinds.parameter(at, ty);
    if is_log(&typed.ty) {
        walk.begin_log(&name.ident);
    }
    if let Role::Item(rank) = role {
        walk.own_item = Some((name.ident.clone(), rank));
    }
    if kind == Kind::Kernel {
        match role {
            Role::Item(rank) => walk.known.item(at, rank),
            Role::Group(rank) => walk.known.group(at, rank),
            Role::Local if special == Special::Local => walk.known.local(at, &typed.ty),
            Role::View if role_is_plain(&typed.ty) => {
                walk.known.view(at, rank_of(&typed.ty));
            }
            Role::Value if !mutable => {
                walk.known.value(at, &name.ident);
                walk.plan.same(at);
            }
            _ => {}
        }
    }
    let (name, ty) = (name.ident.clone(), native_type(&typed.ty));
    Some(Parameter { name, ty, role, mutable, hidden: None })
}

/// `self`, `&self` or `&mut self`.
fn is_plain(of: &Receiver) -> bool {
    let named = of.reference.as_ref().is_some_and(|(_, lifetime)| lifetime.is_some());
    of.colon_token.is_none() && !named
}

/// What a device function can take by reference: a value whose size is known. References to others
/// are refused as they are.
fn lent(ty: &Type) -> (By, &Type) {
    let (by, inner) = taken(ty);
    let named = matches!(ty, Type::Reference(of) if of.lifetime.is_some());
    let unsized_ =
        matches!(inner, Type::Slice(_)) || path_of(inner).is_some_and(|(n, _)| n == "str");
    match named || unsized_ || role_of(inner).0 != Role::Value {
        true => (By::Value, ty),
        false => (by, inner),
    }
}

/// Refuses what no parameter can be.
fn refuse_types(ty: &Type, kind: Kind, walk: &mut Walk) {
    refuse_type(ty, walk);
    refuse_rank(ty, walk);
    refuse_atomic(ty, walk);
    if kind == Kind::Kernel {
        refuse_in_memory(ty, walk);
    }
}

/// Says what the first parameter of a kernel is.
fn refuse_first(signature: &syn::Signature, walk: &mut Walk) {
    let typed = |input: &FnArg| match input {
        FnArg::Typed(typed) if role_of(&typed.ty).0 == Role::Value => match &*typed.pat {
            Pat::Ident(name) => Some((name.ident.unraw().to_string(), typed.ty.span())),
            _ => None,
        },
        _ => None,
    };
    // The first parameter, if its name is that of an item: it counts, or has a type of another
    // name.
    let named = |name: &str| NAMES_OF_ITEMS.contains(&name);
    let first = signature.inputs.first().and_then(typed).filter(|(name, _)| named(name));
    let (at, name) = match &first {
        Some((name, at)) => (*at, name.as_str()),
        None => (signature.ident.span(), "i"),
    };
    let text = format!(
        "a kernel's first parameter is its item or group, and no other, by the type's own name: `{name}: Item`, `g: Group`; \
         `{name}.index()` is the item's number"
    );
    walk.refuse(at, text);
}

/// Usual names of parameters that count items.
const NAMES_OF_ITEMS: &[&str] =
    &["i", "j", "id", "idx", "gid", "tid", "index", "item", "g", "group"];

/// Refuses the threads of a block that no kernel of items can have.
fn refuse_block(block: &[Expr], parameters: &[Parameter], walk: &mut Walk) {
    let Some(size) = block.first() else { return };
    let text = match parameters.first().map(|first| first.role) {
        Some(Role::Item(rank)) if usize::from(rank) == block.len() => {
            let is_zero = |size: &&Expr| size.to_token_stream().to_string() == "0";
            if let Some(zero) = block.iter().find(is_zero) {
                walk.refuse(zero.span(), "a block has at least one thread in each dimension");
            }
            return;
        }
        Some(Role::Item(rank)) => {
            format!("the items have {rank} dimension(s), and their blocks {}", block.len())
        }
        Some(Role::Group(_)) => "a kernel of groups has their size: `group = 256`".to_owned(),
        _ => "only kernels of items have blocks of threads: `i: Item`".to_owned(),
    };
    walk.refuse(size.span(), text);
}

/// Whether items of this kernel have positions.
fn is_placed(first: Option<Role>) -> bool {
    matches!(first, Some(Role::Item(1..=3) | Role::Group(1..=3)))
}

/// Looks at the item or group, and what goes with it; true for a kernel of groups.
fn place(
    signature: &syn::Signature,
    kind: Kind,
    parameters: &[Parameter],
    group: &[Expr],
    walk: &mut Walk,
) -> bool {
    let grid = |p: &Parameter| matches!(p.role, Role::Item(_) | Role::Group(_));
    let first = parameters.first().filter(|p| grid(p)).map(|p| p.role);
    let one = first.is_some() && parameters.iter().filter(|p| grid(p)).count() == 1;
    if kind == Kind::Kernel && !one {
        refuse_first(signature, walk);
    }
    walk.placed = kind != Kind::Kernel || first.is_some();
    let grouped = matches!(first, Some(Role::Group(_))) && kind == Kind::Kernel;
    if let Some(Role::Group(rank)) = first
        && !group.is_empty()
        && group.len() != usize::from(rank)
    {
        let text = format!("the group has {rank} dimension(s), but its size {}", group.len());
        walk.refuse(group[0].span(), text);
    } else if let (false, Some(size)) = (grouped, group.first()) {
        walk.refuse(size.span(), "only kernels of groups have a group's size: `g: Group`");
    }
    for parameter in parameters {
        let scatters = ["Scatter", "ScatterLast"];
        let scatters = path_of(&parameter.ty).is_some_and(|(name, _)| scatters.contains(&&*name));
        let text = match (parameter.role, kind) {
            (Role::View, Kind::Device | Kind::Method) if scatters => {
                "a kernel scatters in its own body: let the function give the index and the value"
            }
            (Role::View, Kind::Kernel) if scatters && !is_placed(first) => {
                "a kernel that scatters has items, which write: `i: Item`, or `g: Group`"
            }
            (Role::Local, _) if !grouped => "local memory is of kernels of groups: `g: Group`",
            (Role::Group(_), Kind::Device | Kind::Method) => {
                "device functions have no phases; write them in the kernel"
            }
            _ => continue,
        };
        walk.refuse(parameter.ty.span(), text);
    }
    grouped
}
