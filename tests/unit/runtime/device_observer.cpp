// What a device tells its observer of memory and launches.
#include "raddle/runtime/device_observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/runtime/simulated_device.h"

namespace raddle::runtime::device_observer_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Notes final : public DeviceObserver {
 public:
  std::vector<std::string> events;
  std::vector<Address> written;

  void allocated(Address, std::uint64_t bytes) override { note("allocated", bytes); }
  void freed(Address) override { events.push_back("freed"); }
  void host_wrote(Address word) override { written.push_back(word); }
  void begin(const LaunchRecord& r) override { events.push_back("begin " + r.name); }
  void end() override { events.push_back("end"); }
  Tag load(const Thread&, Address) override { return 0; }
  void use(const Thread&, Tag) override { events.push_back("use"); }
  void store(const Thread&, Address, unsigned bytes) override { note("store", bytes); }
  void unseen() override {}
  void ended(std::uint32_t block) override { note("ended", block); }

 private:
  void note(const char* what, std::uint64_t n) {
    events.push_back(std::string(what) + " " + std::to_string(n));
  }
};

class Observed : public testing::Test {
 protected:
  static SimulatedDeviceOptions options(Notes& notes) {
    SimulatedDeviceOptions out;
    out.memory_bytes = 1 << 20;
    out.observer = &notes;
    return out;
  }
  Notes notes;
  SimulatedDevice device{options(notes)};
};

TEST_F(Observed, WordsThatTheHostChangesAreTold) {
  const Address at = device.upload(std::vector<std::uint32_t>{1, 2, 3, 0});
  EXPECT_THAT(notes.written, ElementsAre(at, at + 4, at + 8)) << "fresh memory is zero";
  notes.written.clear();
  device.copy_to_device(at, std::vector<std::uint32_t>{1, 9, 3}.data(), 12);
  EXPECT_THAT(notes.written, ElementsAre(at + 4));
  notes.written.clear();
  const std::uint8_t byte = 7;
  device.copy_to_device(at + 10, &byte, 1);
  EXPECT_THAT(notes.written, ElementsAre(at + 8)) << "a part of a word";
}

TEST_F(Observed, SetsAndCopiesOnTheDeviceCountAsTheHosts) {
  const Address at = device.upload(std::vector<std::uint32_t>{1, 0, 0, 5});
  notes.written.clear();
  device.copy_on_device(at + 8, at, 8);
  EXPECT_THAT(notes.written, ElementsAre(at + 8, at + 12));
  notes.written.clear();
  device.set(at, 0, 16);
  EXPECT_THAT(notes.written, ElementsAre(at, at + 8));
  notes.written.clear();
  device.set(at, 0, 0);
  EXPECT_THAT(notes.written, IsEmpty());
}

TEST_F(Observed, LaunchesEncloseWhatTheirBlocksDo) {
  const ModuleId module = device.load(R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b64 %d<2>; .reg .b32 %r<2>;
  ld.param.u64 %d1, [out]; mov.u32 %r1, 3; st.global.u32 [%d1], %r1;
  ret;
})",
                                      "k.ptx");
  const Address at = device.allocate(4);
  device.launch(device.kernel(module, "k"), {2}, {1}, Arguments(at), 0, kDefaultStream);
  device.free(at);
  EXPECT_THAT(notes.events, ElementsAre("allocated 4", "begin k", "store 4", "ended 0", "store 4",
                                        "ended 1", "end", "freed"));
}

}  // namespace
}  // namespace raddle::runtime::device_observer_test
