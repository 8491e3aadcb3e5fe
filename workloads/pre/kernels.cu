// Product recommendation: how similar an item is to each of those rated together with it. See
// README.md.
#include "common/child_device.h"

// A rating is user * 8 + 1 to 5; an item's are sorted by user. Items rated together with item i:
// together[together_first[i]] and on; similarity has as many.
struct Shop {
  const unsigned* rating_first;
  const unsigned* rating;
  const unsigned* together;
  float* similarity;
};

static __device__ unsigned stars(unsigned rating) { return rating % 8; }

// Cosine of the items' ratings, that is 0 where a user has not rated. `squares`: sum of the
// squares of the item whose ratings are `at` to `end` - 1.
static __device__ float cosine(const Shop& shop, unsigned at, unsigned end, unsigned squares,
                               unsigned other) {
  unsigned product = 0, other_squares = 0;
  unsigned other_end = shop.rating_first[other + 1];
  for (unsigned k = shop.rating_first[other]; k < other_end; ++k) {
    unsigned theirs = shop.rating[k];
    other_squares += stars(theirs) * stars(theirs);
    while (at < end && shop.rating[at] / 8 < theirs / 8) ++at;
    if (at < end && shop.rating[at] / 8 == theirs / 8)
      product += stars(shop.rating[at]) * stars(theirs);
  }
  return static_cast<float>(product) / sqrtf(static_cast<float>(squares * other_squares));
}

// Thread = one of the first `count` items rated together with the one whose ratings are `first` to
// `end` - 1.
extern "C" __global__ void pre_merge(const unsigned* rating_first, const unsigned* rating,
                                     const unsigned* together, float* similarity, unsigned first,
                                     unsigned end, unsigned squares, unsigned from,
                                     unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Shop shop = {rating_first, rating, together, similarity};
  similarity[from + i] = cosine(shop, first, end, squares, together[from + i]);
}

template <bool kNested>
static __device__ void recommend(const Shop& shop, const unsigned* together_first, unsigned item,
                                 unsigned threshold, unsigned child_block) {
  unsigned first = shop.rating_first[item], end = shop.rating_first[item + 1];
  unsigned from = together_first[item], count = together_first[item + 1] - from;
  if (count == 0) return;
  unsigned squares = 0;
  for (unsigned k = first; k < end; ++k) squares += stars(shop.rating[k]) * stars(shop.rating[k]);
  ChildShare share = {0, 0};
  if (kNested) share = child_share(count, threshold, child_block);
  if (share.blocks != 0)
    LAUNCH_CHILD(pre_merge, share.blocks, child_block, own_stream(), shop.rating_first, shop.rating,
                 shop.together, shop.similarity, first, end, squares, from, share.length);
  for (unsigned i = share.length; i < count; ++i)
    shop.similarity[from + i] = cosine(shop, first, end, squares, shop.together[from + i]);
}

// Thread = item.
template <bool kNested>
static __device__ void recommend_all(const Shop& shop, const unsigned* together_first,
                                     unsigned items, unsigned threshold, unsigned child_block) {
  for (unsigned item = blockIdx.x * blockDim.x + threadIdx.x; item < items;
       item += gridDim.x * blockDim.x)
    recommend<kNested>(shop, together_first, item, threshold, child_block);
}

extern "C" __global__ void pre_items(const unsigned* rating_first, const unsigned* rating,
                                     const unsigned* together_first, const unsigned* together,
                                     float* similarity, unsigned items, unsigned threshold,
                                     unsigned child_block) {
  recommend_all<true>({rating_first, rating, together, similarity}, together_first, items,
                      threshold, child_block);
}

extern "C" __global__ void pre_items_flat(const unsigned* rating_first, const unsigned* rating,
                                          const unsigned* together_first, const unsigned* together,
                                          float* similarity, unsigned items) {
  recommend_all<false>({rating_first, rating, together, similarity}, together_first, items, 0, 0);
}
