#include "burnin/agent/burn/cuda/across_join.h"

#include <atomic>
#include <cstdlib>

#include "burnin/agent/burn/links/pattern.h"
#include "burnin/agent/burn/nccl_ras.h"

namespace cupel::burn {
namespace {

Failure usage(std::string message) { return {.code = "usage", .message = std::move(message)}; }

/// Errors: usage; refused where this node's GPUs go beyond all ranks.
Outcome<Ranks> ranks_of(const Options& options, const Node& node) {
  const Ranks ranks{static_cast<int>(options.number("--ranks")),
                    static_cast<int>(options.number("--rank-base")),
                    static_cast<int>(node.devices.size())};
  const int ways = static_cast<int>(options.flag("--make-id")) +
                   static_cast<int>(options.given("--id")) +
                   static_cast<int>(options.given("--id-file"));
  if (ways != 1) return usage("--ranks: give one of --make-id, --id and --id-file");
  if (options.self_tests() > 0) return usage("--self-test is for the GPUs of one node");
  if (ranks.base + ranks.here > ranks.all)
    return Failure{.code = "refused",
                   .message = "ranks " + std::to_string(ranks.base) + " to " +
                              std::to_string(ranks.base + ranks.here - 1) + " on the " +
                              std::to_string(ranks.here) + " GPUs of this node are more than the " +
                              std::to_string(ranks.all) + " there are to be: choose with --gpus"};
  return ranks;
}

Failure not_joined(const Failure& why, const Ranks& ranks, double within) {
  auto text = "ranks " + std::to_string(ranks.base) + " to " +
              std::to_string(ranks.base + ranks.here - 1) + " of " + std::to_string(ranks.all) +
              " were here, and not all others came within " +
              std::to_string(static_cast<int>(within)) + " s: " + why.message;
  return {.code = "nccl", .message = std::move(text), .part = why.part};
}

}  // namespace

Outcome<Joining> Joining::begin(const Given& given) {
  const auto scratch = std::make_shared<const Scratch>();
  const auto chosen = choose_interface(given.options);
  const Variables set{{"NCCL_DEBUG", "INFO"},
                      {"NCCL_DEBUG_SUBSYS", "INIT,NET"},
                      {"NCCL_DEBUG_FILE", scratch->log()}};
  auto start = start_of(given.options, given.node);
  start.parameters = with_environment(given.options.parameters(), set);
  for (const auto& [name, value] : set) ::setenv(name.c_str(), value.c_str(), 1);
  auto library = nccl::Library::load(nccl::usual_places());
  if (library) start.nccl = library->version_name();
  given.report.start(start);
  TRY(chosen);
  if (!library) return std::move(library).error();
  Joining joining{given, *std::move(library), scratch};
  TRY(joining.ranks_, ranks_of(given.options, given.node));
  return joining;
}

Outcome<Meeting> Joining::meet() const {
  const auto& options = given_.options;
  if (!options.flag("--make-id")) {
    TRY(auto meeting, read_id(options));
    const std::chrono::duration<double> within{options.number("--join-within")};
    TRY(reach(meeting.id, within, [&stop = given_.stop] { return stop.over(); }));
    return meeting;
  }
  TRY(auto meeting, make_id(library_));
  given_.report.say(id_line(meeting.id, library_.version_name()));
  return meeting;
}

Outcome<std::unique_ptr<Communicators>> Joining::join(const Meeting& meeting) const {
  WatchdogScope scope{given_.watchdog, ""};
  scope.doing("joining " + std::to_string(ranks_.all) + " ranks at " + meeting.id.address);
  std::vector<int> ordinals;
  for (const auto& device : given_.node.devices) ordinals.push_back(device.ordinal);
  const double within = given_.options.number("--join-within");
  const auto until = Stop::Clock::now() + std::chrono::duration_cast<Stop::Clock::duration>(
                                              std::chrono::duration<double>{within});
  auto joined = std::make_shared<std::atomic<bool>>(false);
  const auto asked = std::make_shared<std::atomic<bool>>(false);
  Part part{meeting.raw, ranks_.base, ranks_.all,
            [&stop = given_.stop, &report = given_.report, until, joined, asked, &scope] {
              if (*joined) return !stop.over();
              scope.alive();  // it has a limit of its own
              if (stop.over()) return false;
              if (Stop::Clock::now() < until) return true;
              // Before the communicators that wait are aborted: afterwards RAS knows of none.
              if (!asked->exchange(true)) report.say(ask_own_ras());
              return false;
            }};
  auto all = Communicators::join(library_, ordinals, std::move(part));
  *joined = true;
  if (!all) return not_joined(all.error(), ranks_, within);
  agent::JsonLine line{"joined"};
  given_.report.say(line.add("base", ranks_.base).add("here", ranks_.here).add("of", ranks_.all));
  return all;
}

void Joining::tell_transport() const {
  given_.report.say(transport_line(read_log(scratch_->log())));
}

std::uint64_t Joining::seed(const Meeting& meeting) const {
  if (given_.options.given("--seed")) return given_.options.seed();
  std::uint64_t seed = 0;
  for (const char byte : meeting.raw.bytes)
    seed = mixed(seed + static_cast<unsigned char>(byte) + 1);
  return seed;
}

agent::JsonLine ranks_line(const Communicators& all, const std::vector<std::uint64_t>& entered,
                           const std::string& doing) {
  agent::JsonLine line{"ranks"};
  line.add("base", all.rank_of(0)).add("of", all.all_ranks());
  line.array("entered");
  for (const auto number : entered) line.item(static_cast<std::int64_t>(number));
  line.end();
  line.add("doing", doing);
  return line;
}

}  // namespace cupel::burn
