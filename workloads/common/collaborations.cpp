// Collaborations of authors: a union of cliques that grows. See graph.h.
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "common/graph.h"
#include "raddle/base/error.h"

namespace raddle::workloads {

namespace {

// Authors with whom a paper is written, chosen so that m distinct pairs among n authors come out.
class Papers {
 public:
  Papers(std::uint32_t authors, std::uint64_t pairs, Rng& rng)
      : authors_(authors), wanted_(pairs), rng_(rng), partners_(authors) {}

  /// partners[a]: those known before a with whom a has written.
  const std::vector<std::vector<std::uint32_t>>& write() {
    while (pairs_ < wanted_) {
      std::uint64_t before = pairs_;
      write_one();
      stale_ = pairs_ == before;
    }
    return partners_;
  }

 private:
  // Chosen so that degrees and distances come out as cond-mat's (tested).
  static constexpr std::uint32_t kRecent = 1000;  // signatures that count as recent
  static constexpr double kRecentShare = 0.75;
  static constexpr double kGrowth = 2;            // pairs ~ authors^2
  static constexpr double kNewcomerShare = 0.65;  // of the places, while newcomers are due

  // 2 to 9 authors with probabilities as 1 / (k - 1)^2: 2.8 on average.
  std::uint32_t team_size() {
    double sum = 0;
    for (std::uint32_t k = 2; k <= 9; ++k) sum += weight(k);
    double place = rng_.unit() * sum;
    std::uint32_t k = 2;
    while (k < 9 && (place -= weight(k)) >= 0) ++k;
    return k;
  }
  static double weight(std::uint32_t k) { return 1.0 / ((k - 1.0) * (k - 1.0)); }

  // Whether fewer authors are known than so many pairs call for.
  bool newcomer_due() const {
    double share = static_cast<double>(pairs_ + 1) / static_cast<double>(wanted_);
    return known_ < std::ceil(authors_ * std::pow(share, 1 / kGrowth));
  }

  std::uint32_t known_author() {
    std::size_t count = signatures_.size();
    if (rng_.unit() < kRecentShare) {
      auto back = rng_.below(static_cast<std::uint32_t>(std::min<std::size_t>(count, kRecent)));
      return signatures_[count - 1 - back];
    }
    return signatures_[rng_.below(static_cast<std::uint32_t>(count))];
  }

  void write_one() {
    std::vector<std::uint32_t> team;
    std::uint32_t size = team_size();
    for (std::uint32_t member = 0; member < size; ++member) {
      // A paper that joined nobody new is followed by one with a newcomer.
      bool newcomer = known_ < authors_ && (signatures_.empty() || (stale_ && member == 0) ||
                                            (newcomer_due() && rng_.unit() < kNewcomerShare));
      std::uint32_t author = newcomer ? known_++ : known_author();
      if (std::find(team.begin(), team.end(), author) == team.end()) team.push_back(author);
    }
    for (std::size_t a = 0; a < team.size(); ++a)
      for (std::size_t b = 0; b < a && pairs_ < wanted_; ++b)
        join(std::max(team[a], team[b]), std::min(team[a], team[b]));
    signatures_.insert(signatures_.end(), team.begin(), team.end());
  }

  void join(std::uint32_t later, std::uint32_t earlier) {
    if (!met_.insert(std::uint64_t{later} << 32 | earlier).second) return;
    partners_[later].push_back(earlier);
    ++pairs_;
  }

  std::uint32_t authors_, known_ = 0;
  std::uint64_t wanted_, pairs_ = 0;
  bool stale_ = false;
  Rng& rng_;
  std::vector<std::vector<std::uint32_t>> partners_;
  std::vector<std::uint32_t> signatures_;  // authors of all papers, in order
  std::unordered_set<std::uint64_t> met_;  // only asked, never walked
};

}  // namespace

Graph make_collaborations(std::uint32_t vertices, std::uint64_t edges, Rng& rng) {
  RADDLE_ASSERT(edges <= max_edges(vertices));
  Papers papers(vertices, edges, rng);
  Graph graph;
  for (std::vector<std::uint32_t> partners : papers.write()) {
    std::sort(partners.begin(), partners.end());
    graph.column.insert(graph.column.end(), partners.begin(), partners.end());
    graph.row.push_back(static_cast<std::uint32_t>(graph.column.size()));
  }
  return graph;
}

}  // namespace raddle::workloads
