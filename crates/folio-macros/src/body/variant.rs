//! Variants with data: as values, and as patterns.

use super::choice::{Subject, Test, and};
use super::{Both, Walk, name_of};
use crate::tree::Tree;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, Index, Member, Pat, Path};

/// A variant with data, as it is named.
pub(super) struct Variant {
    /// The enum.
    ty: TokenStream,
    name: String,
}

impl Variant {
    /// The variant of this path: its enum's name comes before it. With data it is no constant,
    /// whatever its letters are.
    pub(super) fn of(path: &Path) -> Option<Variant> {
        let mut enumeration = path.clone();
        let last = enumeration.segments.pop()?.into_value();
        enumeration.segments.pop_punct();
        let owner = enumeration.segments.last()?.ident.unraw().to_string();
        let name = last.ident.unraw().to_string();
        let named = owner.starts_with(char::is_uppercase) && owner != "Option";
        let known = named && name.starts_with(char::is_uppercase) && last.arguments.is_empty();
        known.then(|| Variant { ty: enumeration.to_token_stream(), name })
    }

    fn field(&self, member: &Member) -> String {
        format!("{}.{}", self.name, name_of(member))
    }
}

/// Fields, and the pattern of each.
type Fields<'p> = Vec<(Member, &'p Pat)>;

/// What a pattern of a variant asks of its fields, and whether it leaves others out.
pub(super) fn fields_of(pat: &Pat) -> Option<(&Path, Fields<'_>, bool)> {
    match pat {
        Pat::TupleStruct(of) if of.qself.is_none() => {
            let rest = matches!(of.elems.last(), Some(Pat::Rest(_)));
            let count = of.elems.len() - usize::from(rest);
            let fields = of.elems.iter().take(count).enumerate();
            let fields = fields.map(|(at, pat)| (numbered(at, pat.span()), pat));
            Some((&of.path, fields.collect(), rest))
        }
        Pat::Struct(of) if of.qself.is_none() => {
            let fields = of.fields.iter().map(|field| (field.member.clone(), &*field.pat));
            Some((&of.path, fields.collect(), of.rest.is_some()))
        }
        _ => None,
    }
}

/// The field of this number, which is named there.
pub(super) fn numbered(at: usize, span: Span) -> Member {
    Member::Unnamed(Index { index: at as u32, span })
}

impl Walk {
    /// A value of a variant: its number, and its data.
    pub(super) fn variant<'e>(
        &mut self,
        path: &Path,
        fields: impl Iterator<Item = (Member, &'e Expr)>,
    ) -> Option<Both> {
        let variant = Variant::of(path)?;
        let (slot, entry) = self.slot(path.span());
        let mut trees = vec![self.number_of(&variant)];
        let (mut natives, mut names) = (vec![], vec!["#".to_owned()]);
        for (member, value) in fields {
            let (native, tree) = self.expr(value);
            natives.push(quote!(#member: #native));
            trees.push(tree);
            names.push(variant.field(&member));
        }
        let value = Ident::new("__v", Span::mixed_site().located_at(path.span()));
        let native = quote!({ let #value = #path { #(#natives),* }; #slot.is(#value); #value });
        let tree = Tree::of("struct").word(entry).parts(&trees);
        Some((native, names.iter().fold(tree, Tree::word)))
    }

    fn number_of(&mut self, Variant { ty, name }: &Variant) -> Tree {
        let number = quote!(|| <#ty as ::folio::ir::device::Variants>::number(#name));
        Tree::constant(self.entry(number))
    }

    /// The pattern of a variant with data, in Rust, and its test; none for other patterns.
    pub(super) fn test_variant(
        &mut self,
        pat: &Pat,
        (at, slot): (u16, &Ident),
        lets: &mut Vec<Tree>,
    ) -> Option<(TokenStream, Test)> {
        let (path, fields, rest) = fields_of(pat)?;
        let variant = Variant::of(path)?;
        let own = Tree::of("field").part(&Tree::local(at)).word("#");
        let mut test = Some(Tree::binary("is", &own, &self.number_of(&variant)));
        let mut natives = vec![];
        for (member, pat) in fields {
            if let Pat::Wild(_) = pat {
                natives.push(quote!(#member: #pat));
                continue;
            }
            let part = self.part_of(at, &variant.field(&member), lets);
            let (Variant { ty, name }, field) = (&variant, name_of(&member));
            let ty = quote!(|| <#ty as ::folio::ir::device::Variants>::field(#name, #field));
            let inner = Subject::One(part, self.entry(ty), slot.clone());
            let (native, own) = self.test(pat, &inner, lets);
            natives.push(quote!(#member: #native));
            test = and(test, own);
        }
        let rest = rest.then(|| quote!(..));
        Some((quote!(#path { #(#natives,)* #rest }), test))
    }
}
