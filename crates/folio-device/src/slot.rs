//! Slots: zero-sized values in a kernel's Rust form whose types rustc infers.

use super::{Mode, Number, Shared};
use folio_kernel::source::{Entry, Function};
use folio_kernel::{Type, Types};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Range, RangeInclusive};

/// Learns a type from what it is compared with. Its methods take it by value: so they come before
/// those of any trait of the user's.
#[derive(Debug)]
pub struct Slot<T>(PhantomData<fn() -> T>);

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Slot<T> {}

impl<T> Slot<T> {
    /// Nothing is known yet.
    #[inline(always)]
    #[expect(clippy::new_without_default, reason = "made by the macro only")]
    pub const fn new() -> Slot<T> {
        Slot(PhantomData)
    }

    /// The slot has this value's type.
    #[inline(always)]
    pub fn is(self, _: T)
    where
        T: Copy,
    {
    }

    /// A range of this type.
    #[inline(always)]
    pub fn range<R: Iterator<Item = T>>(self, range: R) -> R {
        range
    }

    /// An inclusive range of this type.
    #[inline(always)]
    pub fn closed<M: Mode>(self, range: RangeInclusive<T>) -> Closed<T>
    where
        T: Number,
        RangeInclusive<T>: Iterator<Item = T>,
    {
        let (first, last) = range.into_inner();
        match last < T::MAX {
            true => Closed { range: first..last.plus::<M>(T::ONE), last: None },
            false => Closed { range: first..last, last: Some(last) },
        }
    }

    /// The table's entry for the slot.
    #[inline(always)]
    pub const fn entry(self) -> fn() -> Entry
    where
        T: Slotted,
    {
        T::entry
    }
}

/// `first..=last`, as a range to one past its last where there is such a number: LLVM unrolls that,
/// and makes vectors of it, where it does not of Rust's.
#[derive(Debug)]
pub struct Closed<T> {
    range: Range<T>,
    last: Option<T>,
}

impl<T> Iterator for Closed<T>
where
    Range<T>: Iterator<Item = T>,
{
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        match self.range.next() {
            None => self.last.take(),
            next => next,
        }
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let (least, most) = self.range.size_hint();
        let more = usize::from(self.last.is_some());
        (least.saturating_add(more), most.and_then(|most| most.checked_add(more)))
    }
}

/// Every `by`th of a range; nothing if that is 0.
#[inline(always)]
pub fn stepped<R: Iterator>(range: R, by: usize) -> impl Iterator<Item = R::Item> {
    range.step_by(by.max(1)).take(if by == 0 { 0 } else { usize::MAX })
}

/// A type, or a called function.
///
/// # Safety
/// The entry is the type as devices have it: what [`Shared`] describes. Indices are proved, and
/// kernels are fused on the host, by what the table says that types are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used in a kernel",
    label = "no device type",
    note = "device types are numbers, bool, arrays and tuples of them, and structs with #[derive(Clone, Copy, DeviceType)] and #[repr(C)]",
    note = "an enum: #[derive(Clone, Copy, DeviceType)] and #[repr(u32)]"
)]
pub unsafe trait Slotted {
    /// Its entry in the table.
    fn entry() -> Entry;
}

#[diagnostic::do_not_recommend]
// SAFETY: the entry is the type's own description.
unsafe impl<T: Shared> Slotted for T {
    fn entry() -> Entry {
        Entry::Type(T::describe)
    }
}

/// `Option<T>` is a variable's type, and no type in memory: whether there is a value, and the value
/// or zeros.
fn describe_option<T: Shared>(types: &mut Types) -> Type {
    <(bool, T)>::describe(types)
}

#[diagnostic::do_not_recommend]
// SAFETY: a choice between `Some` and `None` is one by the first part.
unsafe impl<T: Shared> Slotted for Option<T> {
    fn entry() -> Entry {
        Entry::Type(describe_option::<T>)
    }
}

impl<T: Shared> Slot<Option<T>> {
    /// The entry of `None`.
    #[inline(always)]
    pub const fn none(self) -> fn() -> Entry {
        || {
            let mut bits = vec![];
            (false, zeroed::<T>()).bits(&mut bits);
            Entry::Const(describe_option::<T>, bits)
        }
    }

    /// The entry of the type in `Some`.
    #[inline(always)]
    pub const fn some(self) -> fn() -> Entry {
        T::entry
    }
}

/// A called device function. A function is no [`Shared`], and therefore has a wrapper.
#[derive(Debug)]
pub struct Callee<F>(PhantomData<F>);

/// A device function as a type.
///
/// # Safety
/// `FUNCTION` is of the body of which each [`Form`] for this type is made.
pub unsafe trait Inlined: 'static {
    /// The macro's description of it.
    const FUNCTION: &'static Function;
}

/// A function that is called by a path: a device function, or the operation of a reduction.
///
/// # Safety
/// The entry is the function of which each [`Form`] for this type is made.
pub unsafe trait Called: 'static {
    /// Its entry in the table.
    fn called() -> Entry;
}

#[diagnostic::do_not_recommend]
// SAFETY: the function that it says.
unsafe impl<F: Inlined> Called for F {
    fn called() -> Entry {
        Entry::Function(F::FUNCTION)
    }
}

impl<F: Called> Slot<Callee<F>> {
    /// The table's entry for the slot.
    #[inline(always)]
    pub const fn callee(self) -> fn() -> Entry {
        F::called
    }
}

/// The Rust form of a called function, `F`, in a mode: nothing but unsafe code ties the two. A body
/// therefore runs what its table says, wherever rustc has found the form: an item of the user's may
/// hide the macro's, and can only give the form of another function, which the slot then names.
#[derive(Debug)]
pub struct Form<F, M, C>(C, PhantomData<fn() -> (F, M)>);

impl<F, M, C> Form<F, M, C> {
    /// The form of `F` in the mode `M`, as a value that can be called.
    ///
    /// # Safety
    /// The form computes and accesses what the entry of `F` says, and no more: by that indices are
    /// proved, and kernels fused on the host. A method's form computes that of the value that it is
    /// bound to.
    #[inline(always)]
    pub const unsafe fn new(call: C) -> Self {
        Form(call, PhantomData)
    }
}

/// The called form, of which the slot tells.
#[inline(always)]
pub fn form<F, M, C>(_: &Slot<Callee<F>>, form: Form<F, M, C>) -> C {
    form.0
}

/// The same for a method, of this value.
#[inline(always)]
pub fn method<F, M, S, C: Method<S>>(_: &Slot<Callee<F>>, form: Form<F, M, C>, of: S) -> C::Bound {
    form.0.bound(of)
}

/// The form of a method for a variable: the variable, its value before the arguments, and those.
pub type InPlace<S, A, R> = fn(&mut S, S, A) -> R;

/// The same for a method of a variable, which the method may change. A method that changes nothing
/// is of `before`, the variable's value before the arguments were computed.
#[inline(always)]
pub fn in_place<F, M, S, A, R>(
    _: &Slot<Callee<F>>,
    form: Form<F, M, InPlace<S, A, R>>,
    of: &mut S,
    before: S,
    given: A,
) -> R {
    form.0(of, before, given)
}

/// In place of the form of a method that changes its value, where that is no variable.
#[derive(Debug)]
pub struct NeedsVariable;

/// The form of a method: with its `self`, it is what is called with the other arguments.
///
/// # Safety
/// What is bound is the form itself. Where a form is none that can be called, such as
/// [`NeedsVariable`], another implementation would call what no description names.
#[diagnostic::on_unimplemented(
    message = "this method changes its value, which is no variable here",
    label = "changes its value",
    note = "put the value into a variable, `let mut v = ..;`, and call the method of that"
)]
pub unsafe trait Method<S> {
    /// The form with its receiver.
    type Bound;
    /// Of this value.
    fn bound(self, of: S) -> Self::Bound;
}

#[diagnostic::do_not_recommend]
// SAFETY: the form itself.
unsafe impl<S, B, C: FnOnce(S) -> B> Method<S> for C {
    type Bound = B;
    #[inline(always)]
    fn bound(self, of: S) -> B {
        self(of)
    }
}

/// The entry of a parameter `&mut T`, from that of `T`.
pub fn place(of: Entry) -> Entry {
    match of {
        Entry::Type(ty) => Entry::Place(ty),
        other => other,
    }
}

/// The entry of a constant.
pub fn constant<T: Shared>(value: T) -> Entry {
    let mut bits = vec![];
    value.bits(&mut bits);
    Entry::Const(T::describe, bits)
}

thread_local! {
    static TABLE: RefCell<Vec<Entry>> = const { RefCell::new(vec![]) };
}

/// The results of bodies.
///
/// # Safety
/// The result is a value of the type.
pub unsafe trait BodyResult {
    /// A value that is not looked at.
    fn nothing() -> Self;
}

#[diagnostic::do_not_recommend]
// SAFETY: a value of the type, which nothing looks at.
unsafe impl BodyResult for () {
    #[inline(always)]
    fn nothing() {}
}

#[diagnostic::do_not_recommend]
// SAFETY: a value of the type, which nothing looks at.
unsafe impl<T: Shared> BodyResult for T {
    #[inline(always)]
    fn nothing() -> T {
        zeroed()
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: a value of the type, which nothing looks at.
unsafe impl<T: Shared> BodyResult for Option<T> {
    #[inline(always)]
    fn nothing() -> Option<T> {
        None
    }
}

/// Zeros.
#[inline(always)]
pub fn zeroed<T: Shared>() -> T {
    // SAFETY: zero bytes are a value of every device type (`Shared`).
    unsafe { std::mem::zeroed() }
}

/// Where nothing of use can be given: in probing, and after a failed assertion.
#[inline(always)]
pub fn nothing<T: BodyResult>() -> T {
    T::nothing()
}

/// Tells the types of a body.
#[cold]
#[inline(never)]
pub fn probe(entries: &[fn() -> Entry]) {
    // An entry may be the program's, and probe another kernel: nothing is borrowed meanwhile.
    TABLE.set(entries.iter().map(|entry| entry()).collect());
}

/// The types that a body tells.
pub fn record(body: impl FnOnce()) -> Vec<Entry> {
    body();
    TABLE.take()
}
