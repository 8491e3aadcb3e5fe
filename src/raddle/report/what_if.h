// What a change of the machine would bring to one work: each policy beside itself on the machine as
// it is, and whether another policy is the fastest then.
#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "raddle/report/seeds.h"
#include "raddle/report/summary.h"

namespace raddle::report {

struct WhatIf {
  std::string item;  ///< "l2=x2"
  /// Of the resolved configuration what differs: path to {"from", "to"}.
  nlohmann::ordered_json changes = nlohmann::ordered_json::object();
  Stream stream = Stream::Same;
  /// Warp instructions of the first policy's first run over those of the machine as it is: another
  /// number than 1 where a program does other work on it.
  double instructions = 1;
  struct OfPolicy {
    std::string policy;
    Spread speedup;  ///< over the same policy, with the same seed, on the machine as it is
  };
  std::vector<OfPolicy> policies;
  std::vector<std::string> order;  ///< of policies, the fastest first; mean over seeds
  /// Policies of which the first is the faster as it is, and the second with the change.
  std::vector<std::pair<std::string, std::string>> turned;
};

/// In order of first rows; none where no row has a change. Precondition: each row with a change has
/// one without it, of the same policies and seed.
std::vector<WhatIf> what_ifs(std::span<const Row> rows);

/// Of policies on the machine as it is, the fastest first.
std::vector<std::string> order_as_it_is(std::span<const Row> rows);

/// Entries of `what_if` of compare's and run's JSON and of a page.
nlohmann::ordered_json what_if_json(std::span<const Row> rows);

/// The table; "" where there is none.
std::string what_if_table(std::span<const Row> rows);

}  // namespace raddle::report
