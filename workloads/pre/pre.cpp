// Host code of pre: similarity of items that the same users have rated. See README.md.
#include "common/child_launches.h"
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"
#include "pre/ratings.h"

namespace raddle::runtime {
namespace {

using namespace workloads;

class Pre final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    children_ = {.parent = {.block = 128}, .child_block = 64, .threshold = 8};
    by_size(size, ratings_,
            {{.items = 64, .users = 20, .per_user = 5, .group = 64, .maximum = 6},
             {.items = 27'278, .users = 8'192, .per_user = 16, .group = 64, .maximum = 16},
             {.items = 1'682, .users = 943, .per_user = 106, .group = 64, .maximum = 128}});
  }

  void visit(FieldVisitor& v) override {
    v.field("items", ratings_.items, {1, 1u << 22}, "items", "that are sold");
    v.field("users", ratings_.users, {1, 1u << 22}, "users", "who rate items");
    v.field("per_user", ratings_.per_user, {1, 1000}, "ratings", "mean number of a user's ratings");
    v.field("zipf", ratings_.zipf, {0, 2}, "", "the r-th most popular item is drawn as r^-zipf");
    v.field("group", ratings_.group, {1, 1024}, "items", "consecutive ones that are alike");
    v.field("loyal", ratings_.loyal, {0, 1}, "", "share of a user's ratings in two groups");
    v.field("most_ratings", ratings_.maximum, {1, 512}, "ratings", "kept of an item");
    children_.visit(v, "items", "rated together with an item from which on a child compares them");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all = children_.violations();
    if (ratings_.users * ratings_.per_user > 1u << 26)
      all.push_back("users * per_user must not exceed 2^26 ratings");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    Rng rng(seed, "pre/ratings");
    input_ = make_ratings(ratings_, rng);
    inputs_.add(input_.rating, input_.together);
    children_.parent.ask_for_launches(device, ratings_.items);
    DeviceArray<std::uint32_t> first(device, input_.first), rating(device, input_.rating),
        together_first(device, input_.together_first), together(device, input_.together);
    DeviceArray<float> similarity(device, input_.together.size());
    Arguments arguments(first.address(), rating.address(), together_first.address(),
                        together.address(), similarity.address(), ratings_.items);
    if (children_.nested()) {
      arguments.add(children_.threshold);
      arguments.add(children_.child_block);
    }
    const ModuleId module = load_module(device, "pre");
    device.launch(device.kernel(module, children_.nested() ? "pre_items" : "pre_items_flat"),
                  {children_.parent.blocks(ratings_.items)}, {children_.parent.block}, arguments);
    device.synchronize();
    similarity_ = similarity.download();
  }

  std::string check() override {
    std::vector<float> expected;
    for (std::uint32_t item = 0; item < ratings_.items; ++item)
      for (std::uint32_t k = input_.together_first[item]; k < input_.together_first[item + 1]; ++k)
        expected.push_back(rating_cosine(input_, item, input_.together[k]));
    return first_difference("similarity", expected, similarity_);
  }

 private:
  RatingSpec ratings_;
  ChildLaunches children_;
  Ratings input_;
  std::vector<float> similarity_;
};

}  // namespace

void add_workload_pre(Workloads& w) {
  w.add<Pre>("pre", "product recommendation; children compare an item with those rated with it");
}

}  // namespace raddle::runtime
