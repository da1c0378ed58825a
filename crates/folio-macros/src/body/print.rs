//! `print!`: a record of words in the kernel's `Log`, which is an array of atomic words. The first
//! word of a log counts words that are taken, the second one records that had no room. A record has
//! its length, the number of its text, the item's rank and position, and of each value its kind and
//! its bits, in two words.

use super::ends::names;
use super::group::Zone;
use super::scatter::own_claim;
use super::sugar::hidden;
use super::{Both, Walk};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Block, Expr, LitStr, Macro, Stmt, Token, parse_quote};

/// Where a kernel prints to.
pub struct Log {
    /// The parameter.
    name: Ident,
    /// Texts, by their numbers.
    texts: Vec<(u32, String)>,
}

/// A text, and the values in it.
struct Printed {
    /// `{}` for each value, or `{:..}`.
    text: String,
    values: Vec<Expr>,
}

impl Walk {
    /// The kernel prints to this parameter.
    pub fn begin_log(&mut self, name: &Ident) {
        if self.log.is_some() {
            self.refuse(name.span(), "a kernel has one `Log`");
        }
        self.log = Some(Log { name: name.clone(), texts: vec![] });
    }

    /// The parameter of this name is what the kernel prints to.
    pub fn is_log(&self, name: &Ident) -> bool {
        self.log.as_ref().is_some_and(|log| log.name == *name)
    }

    /// Numbers and texts of all that the function's own body prints.
    pub fn printed_texts(&self) -> Vec<TokenStream> {
        let texts = self.log.iter().flat_map(|log| &log.texts);
        texts.map(|(number, text)| quote!((#number, #text))).collect()
    }

    /// The body of a function that prints or scatters, which has the item's position first, and its
    /// claim. In a kernel of groups each phase has them.
    pub(super) fn with_position(&mut self, block: &Block) -> Option<Block> {
        let log = self.log.as_ref().map(|log| log.name.span());
        if self.known.is_grouped() || (log.is_none() && !self.scatters()) {
            return None;
        }
        let Some((item, rank)) = self.own_item.clone() else {
            let text = "a function that prints is given the item, too, whose position a line has: `i: Item, log: Log`";
            // Without an item nothing scatters, which is refused where the parameters are read.
            log.map(|span| self.refuse(span, text));
            return None;
        };
        let mut block = block.clone();
        let claim = self.scatters().then(|| own_claim(rank));
        block.stmts.splice(0..0, [position(&item, rank)].into_iter().chain(claim));
        Some(block)
    }

    /// What the items of a phase do, with their position first if they print or scatter.
    pub(super) fn with_position_of(&self, item: &Ident, body: &Expr) -> Option<Expr> {
        let (_, rank) = self.known.item?;
        let tokens = body.to_token_stream();
        let prints = self.log.is_some() && names(&tokens, &["print", "println"]);
        let scatters = self.scatters_to(&tokens);
        if !prints && !scatters {
            return None;
        }
        let (first, claim) = (position(item, rank), scatters.then(|| own_claim(rank)));
        Some(parse_quote!({ #first #claim #body }))
    }

    /// `print!(..)`
    pub(super) fn print(&mut self, mac: &Macro) -> Both {
        self.plan.give_up(mac.span());
        let span = mac.path.span();
        let of_phase = self.known.item.map(|(_, rank)| rank);
        let rank = self.own_item.as_ref().map(|(_, rank)| *rank).or(of_phase).unwrap_or(0);
        let Some(log) = self.log.as_ref().map(|log| log.name.clone()) else {
            let text = "`print!` is for functions with a parameter `log: Log`, to which it writes; calls of kernels \
                are given a `&folio::Log`, those of device functions the kernel's log and item";
            return self.refuse(span, text);
        };
        if self.known.is_grouped() && self.zone != Zone::Items {
            let text = "items print, not the group: write it in `g.each(|i| ..)`";
            return self.refuse(span, text);
        }
        let printed = match printed.parse2(mac.tokens.clone()) {
            Ok(printed) => printed,
            Err(error) => return self.refuse(error.span(), error),
        };
        let number = number_of(&printed.text);
        if let Some(log) = &mut self.log {
            log.texts.push((number, printed.text.clone()));
        }
        let whole: Expr = record(&log, rank, number, &printed.values, span);
        self.expr(&whole)
    }
}

/// The statement that gives the parts of an item's position their names.
fn position(item: &Ident, rank: u8) -> Stmt {
    match &positions(rank)[..] {
        [one] => parse_quote!(let #one = #item.index();),
        all => parse_quote!(let (#(#all),*) = #item.pos();),
    }
}

pub(super) fn positions(rank: u8) -> Vec<Ident> {
    (0..rank).map(|dim| Ident::new(&format!("__position{dim}"), Span::mixed_site())).collect()
}

/// The code that writes a record.
fn record(log: &Ident, rank: u8, number: u32, values: &[Expr], span: Span) -> Expr {
    let place = hidden("__record", span);
    let names: Vec<_> = (0..values.len()).map(|at| hidden(&format!("__value{at}"), span)).collect();
    let mut words: Vec<TokenStream> = vec![quote!(#number), quote!(#rank as u32)];
    for at in positions(rank) {
        words.push(quote!(#at as u32));
        words.push(quote!((#at >> 32u32) as u32));
    }
    for name in &names {
        let parts = ["printed_kind", "printed_low", "printed_high"];
        words.extend(parts.map(|part| Ident::new(part, span)).map(|part| quote!(#name.#part())));
    }
    let length = words.len() as u32 + 1;
    let stores =
        words.iter().zip(1usize..).map(|(word, at)| quote!(#log.exchange(#place + #at, #word);));
    parse_quote!({
        #(let #names = #values;)*
        let #place = if #log.load(0usize) as usize <= #log.len() {
            #log.add(0usize, #length) as usize + 2usize
        } else {
            #log.len()
        };
        if #place + #length as usize <= #log.len() {
            #log.exchange(#place, #length);
            #(#stores)*
        } else {
            #log.add(1usize, 1u32);
        }
    })
}

/// The number of a text (FNV-1a).
fn number_of(text: &str) -> u32 {
    text.bytes()
        .fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// `"x = {}", x[i]`
fn printed(input: ParseStream<'_>) -> syn::Result<Printed> {
    let literal: LitStr = input.parse()?;
    let given = match input.parse::<Option<Token![,]>>()? {
        Some(_) => Punctuated::<Expr, Token![,]>::parse_terminated(input)?,
        None => Punctuated::new(),
    };
    let (mut given, mut values) = (given.into_iter(), vec![]);
    let wrong = |text: &str| syn::Error::new(literal.span(), text);
    let (whole, mut text) = (literal.value(), String::new());
    let mut rest = whole.as_str();
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        text += before;
        if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
            text += &from[..2];
            rest = after;
            continue;
        }
        let inner = from.strip_prefix('{').and_then(|from| from.split_once('}'));
        let (inner, after) = inner.ok_or_else(|| wrong("a `{` has a `}` behind it"))?;
        let (name, form) = inner.split_once(':').unwrap_or((inner, ""));
        if !is_form(form) {
            return Err(wrong(
                "numbers are printed as `{}`, `{:x}`, `{:b}`, or with digits, `{:.3}`",
            ));
        }
        values.push(match name {
            "" => given.next().ok_or_else(|| wrong("there are fewer values than `{}`"))?,
            name => named(name, literal.span())?,
        });
        text += &format!("{{{form}}}");
        rest = after;
    }
    if let Some(more) = given.next() {
        let what = more.to_token_stream();
        return Err(syn::Error::new(more.span(), format!("`{what}` has no `{{}}` in the text")));
    }
    Ok(Printed { text: text + rest, values })
}

/// A variable that is named in the text.
fn named(name: &str, span: Span) -> syn::Result<Expr> {
    let mut name: Ident = syn::parse_str(name)
        .map_err(|_| syn::Error::new(span, format!("`{name}` is no name of a variable")))?;
    name.set_span(span);
    Ok(parse_quote!(#name))
}

fn is_form(form: &str) -> bool {
    let digits =
        |text: &str| !text.is_empty() && text.len() < 3 && text.bytes().all(|b| b.is_ascii_digit());
    matches!(form, "" | "x" | "b") || form.strip_prefix('.').is_some_and(digits)
}
