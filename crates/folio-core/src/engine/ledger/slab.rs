//! Dense storage with reusable indices.

use std::ops::{Index, IndexMut};

pub(crate) struct Slab<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Slab<T> {
        Slab { items: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn insert(&mut self, item: T) -> u32 {
        if let Some(id) = self.free.pop() {
            self.items[id as usize] = Some(item);
            id
        } else {
            self.items.push(Some(item));
            (self.items.len() - 1) as u32
        }
    }

    pub(crate) fn remove(&mut self, id: u32) -> Option<T> {
        let item = self.items.get_mut(id as usize)?.take()?;
        self.free.push(id);
        Some(item)
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        self.items.get(id as usize)?.as_ref()
    }

    /// The ids of the items.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.items).filter_map(|(id, item)| item.as_ref().map(|_| id))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().flatten()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.items.get_mut(id as usize)?.as_mut()
    }
}

#[cold]
#[expect(clippy::panic, reason = "an id that is not there is a bug of the engine, as in a Vec")]
fn missing(id: u32) -> ! {
    panic!("nothing has id {id}")
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline(always)] // Several times for each access.
    fn index(&self, id: u32) -> &T {
        self.get(id).unwrap_or_else(|| missing(id))
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline(always)] // As `index`.
    fn index_mut(&mut self, id: u32) -> &mut T {
        self.get_mut(id).unwrap_or_else(|| missing(id))
    }
}
