// The dependencies analysis at a device: what happens there, told on.
#pragma once
#include <memory>
#include <vector>

#include "raddle/analysis/analyses.h"
#include "raddle/analysis/dependencies.h"
#include "raddle/runtime/device_observer.h"
#include "raddle/sim/result/result.h"

namespace raddle::sim {

class DependenceObserver final : public runtime::DeviceObserver {
 public:
  /// nullptr when none of the requests is for dependencies. Throws InputError when a label of them
  /// is there twice.
  static std::unique_ptr<DependenceObserver> of(const std::vector<analysis::Request>& requests);
  /// The figures, under the label of each request.
  void fill(Result& result) const;

  void allocated(Address at, std::uint64_t bytes) override { all_.allocated(at, bytes); }
  void freed(Address at) override { all_.freed(at); }
  void host_wrote(Address word) override { all_.host_wrote(word); }
  void begin(const runtime::LaunchRecord& r) override { all_.begin(r.name, r.grid); }
  void end() override { all_.end(); }
  Tag load(const Thread& t, Address word) override { return all_.load(t.block, t.number, word); }
  void use(const Thread& t, Tag tag) override { all_.use(t.block, t.number, tag); }
  void store(const Thread& t, Address at, unsigned bytes) override {
    all_.store(t.block, t.number, at, bytes);
  }
  void unseen() override { all_.unseen(); }
  void ended(std::uint32_t block) override { all_.ended(block); }

 private:
  explicit DependenceObserver(std::vector<std::string> labels) : labels_(std::move(labels)) {}
  std::vector<std::string> labels_;
  analysis::Dependencies all_;
};

}  // namespace raddle::sim
