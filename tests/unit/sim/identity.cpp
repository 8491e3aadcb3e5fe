// What tells two programs, and two recordings, apart.
#include "raddle/sim/result/identity.h"

#include <gtest/gtest.h>

#include "raddle/base/error.h"
#include "support/process.h"

namespace raddle::sim::identity_test {
namespace {

using test::Folder;

TEST(Identity, OfAFileIsItsContent) {
  const Folder folder;
  folder.write("a", "one");
  folder.write("b", "one");
  folder.write("c", "two");
  EXPECT_EQ(hash_of_file(folder / "a"), hash_of_file(folder / "b"));
  EXPECT_NE(hash_of_file(folder / "a"), hash_of_file(folder / "c"));
  EXPECT_THROW(hash_of_file(folder / "d"), InputError);
  EXPECT_THROW(hash_of_file(folder.path()), InputError);
}

TEST(Identity, OfAProgramIsItsFileArgumentsAndWhatTheseName) {
  const Folder folder;
  folder.write("app", "binary");
  folder.write("in.txt", "1 2 3");
  folder.write("more", "x");
  const auto hash = [&](const std::vector<std::string>& arguments,
                        const std::vector<std::string>& inputs = {}) {
    return hash_of_program(folder / "app", arguments, folder.path(), inputs);
  };
  const std::uint64_t first = hash({"-i", "in.txt"}), equals = hash({"--in=in.txt"}),
                      none = hash({"-n", "5"}), more = hash({"-n", "5"}, {"more"});
  EXPECT_EQ(hash({"-i", "in.txt"}), first);
  EXPECT_NE(hash({"in.txt", "-i"}), first);
  EXPECT_NE(hash({"-n", "6"}), none);
  EXPECT_NE(more, none);
  folder.write("in.txt", "1 2 4");
  EXPECT_NE(hash({"-i", "in.txt"}), first);
  EXPECT_NE(hash({"--in=in.txt"}), equals);
  EXPECT_EQ(hash({"-n", "5"}), none);
  folder.write("more", "y");
  EXPECT_NE(hash({"-n", "5"}, {"more"}), more);
  folder.write("app", "another");
  EXPECT_NE(hash({"-n", "5"}), none);
  EXPECT_THROW(hash({}, {"gone"}), InputError);
}

}  // namespace
}  // namespace raddle::sim::identity_test
