#pragma once
// How the processes of several nodes come together for `collective` and `train`: what they are
// reported, the id, and the communicators once all ranks have come.
#include <array>
#include <functional>

#include "burnin/agent/burn/command.h"
#include "burnin/agent/burn/cuda/communicators.h"
#include "burnin/agent/burn/cuda/devices.h"
#include "burnin/agent/burn/links/surroundings.h"
#include "burnin/agent/burn/nccl_meeting.h"

namespace cupel::burn {

inline constexpr double kMostRanks = 65536;

inline constexpr std::array kAcrossChoices{
    Choice{.name = "--ranks",
           .kind = Choice::Kind::kCount,
           .fallback = "0",
           .high = kMostRanks,
           .help = "of all nodes together; 0: the GPUs of this node alone"},
    Choice{.name = "--rank-base",
           .kind = Choice::Kind::kCount,
           .fallback = "0",
           .high = kMostRanks,
           .help = "across nodes: the rank of this node's first GPU"},
    Choice{.name = "--make-id",
           .help = "across nodes: makes the id, prints it, and lets the others come"},
    Choice{.name = "--id",
           .kind = Choice::Kind::kText,
           .help = "across nodes: the id that another made, in hexadecimal digits"},
    Choice{.name = "--id-file",
           .kind = Choice::Kind::kText,
           .help = "the same from a file; -: from standard input"},
    Choice{.name = "--interface",
           .kind = Choice::Kind::kText,
           .help = "across nodes: where the ranks meet (NCCL_SOCKET_IFNAME)"},
    Choice{.name = "--address",
           .kind = Choice::Kind::kText,
           .help = "across nodes: the ranks meet at the interface that has it; an error where none "
                   "has"},
    Choice{.name = "--join-within",
           .kind = Choice::Kind::kNumber,
           .fallback = "120",
           .low = 1,
           .high = 3600,
           .help = "across nodes: seconds until all ranks must have come"},
};

/// A command's own choices, and these.
template <std::size_t kOwn>
constexpr std::array<Choice, kOwn + kAcrossChoices.size()> with_across(
    const std::array<Choice, kOwn>& own) {
  std::array<Choice, kOwn + kAcrossChoices.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = i < kOwn ? own[i] : kAcrossChoices[i - kOwn];
  return all;
}

struct Ranks {
  int all = 0, base = 0, here = 0;
};

/// What one process does to come together with the others; each step after the one before.
class Joining {
 public:
  struct Given {
    const Options& options;
    Report& report;
    Stop& stop;
    Watchdog& watchdog;
    const Node& node;
  };

  /// Sets NCCL's variables, opens it, and writes the start line. Errors: no-library; usage,
  /// refused: the ranks do not fit.
  static Outcome<Joining> begin(const Given& given);

  const Ranks& ranks() const { return ranks_; }
  /// The id: made here, or read and its address reached. Errors: usage, nccl.
  Outcome<Meeting> meet() const;
  /// Errors: nccl, naming the ranks that were here.
  Outcome<std::unique_ptr<Communicators>> join(const Meeting& meeting) const;
  /// Writes what NCCL's log says of the ways between nodes by now: it connects ranks when they
  /// first send to each other.
  void tell_transport() const;
  /// The same on every node: of the id, which all have, where none is given.
  std::uint64_t seed(const Meeting& meeting) const;

 private:
  Joining(const Given& given, nccl::Library library, std::shared_ptr<const Scratch> scratch)
      : given_{given}, library_{std::move(library)}, scratch_{std::move(scratch)} {}

  Given given_;
  nccl::Library library_;
  std::shared_ptr<const Scratch> scratch_;
  Ranks ranks_{};
};

/// {"kind":"ranks", ...}: which operation each rank of this node has entered last.
agent::JsonLine ranks_line(const Communicators& all, const std::vector<std::uint64_t>& entered,
                           const std::string& doing);

}  // namespace cupel::burn
