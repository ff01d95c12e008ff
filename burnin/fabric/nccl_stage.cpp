#include "burnin/fabric/nccl_stage.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/nccl_id.h"
#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/fabric/across_judge.h"
#include "burnin/fabric/bisection.h"
#include "burnin/fabric/nccl_jobs.h"
#include "burnin/fabric/nccl_transport.h"
#include "burnin/fabric/what_differs.h"
#include "burnin/parameters.h"
#include "burnin/script.h"
#include "inventory/node_range.h"
#include "inventory/profile.h"

namespace cupel::burnin {
namespace {

using fabric::Bisection;
using fabric::Collectives;
using fabric::Team;
using fabric::TeamRun;
using Kind = ParameterRow::Kind;
using std::chrono::seconds;

constexpr std::array<std::string_view, 2> kPrograms{"cupel-burn", "cupel-node"};
constexpr std::array<std::string_view, 5> kGroups{"all", "pairs", "leaf", "rail", "bisect"};
constexpr std::array<std::string_view, 6> kOperations{"all_reduce", "all_gather", "reduce_scatter",
                                                      "all_to_all", "broadcast",  "send_recv"};
constexpr std::array<std::string_view, 2> kYesOrNo{"yes", "no"};
constexpr std::array kParameters{
    ParameterRow{"groups", Kind::word,
                 "which nodes run together: all, two and two, those of a leaf, or one rail of all "
                 "after the other; bisect: all, and where they are slow though fabric-pairs found "
                 "their links well, smaller and smaller teams of them",
                 "all", kGroups},
    ParameterRow{"ops", Kind::text, "which collectives", "all_reduce"},
    ParameterRow{"min", Kind::size, "of the messages", "8MiB", {}, 8, 16 * kGiB},
    ParameterRow{"max", Kind::size, "of the messages", "1GiB", {}, 8, 16 * kGiB},
    ParameterRow{"factor", Kind::text, "from one size to the next, 2 to 1024", "4"},
    ParameterRow{"times", Kind::text, "how often a size is run for its time, 1 to 10000", "20"},
    ParameterRow{"steps", Kind::text,
                 "of training a synthetic transformer over all ranks, in place of collectives; 0: "
                 "none; 10 to 100000",
                 "0"},
    ParameterRow{"ranks", Kind::text, "of each node; a rail's groups have one", "all"},
    ParameterRow{"duration", Kind::duration, "of a round, at most", "2m", {}, 10, kHour},
    ParameterRow{"join", Kind::duration, "until all ranks must have come", "2m", {}, 5, kHour},
    ParameterRow{"interface", Kind::text,
                 "network interface where ranks meet; site: as the inventory says (fabric: nccl:), "
                 "else the one that has the node's address; any: as NCCL chooses",
                 "site"},
    ParameterRow{"environment", Kind::text,
                 "NAME=VALUE of NCCL's variables, separated by blanks, beside the inventory's",
                 "none"},
    ParameterRow{"address", Kind::text,
                 "inventory: the id's address must be the node's own in the inventory; any: "
                 "whatever all members reach (where ranks meet on another network than SSH); site: "
                 "as the inventory says, else inventory",
                 "site"},
    ParameterRow{"planned", Kind::word, "only nodes that the inventory's cable plan has", "no",
                 kYesOrNo},
};
constexpr int kMostGpus = 64;
constexpr std::size_t kLongestNames = 200;

std::span<const std::string_view> measures() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names{"nccl.groups",    "nccl.absent",     "nccl.errors",
                                   "nccl.lag",       "nccl.loss",       "nccl.slow",
                                   "nccl.undecided", "nccl.train.step", "nccl.train.tokens",
                                   "nccl.train.lag", "nccl.tcp"};
    for (const auto operation : kOperations)
      for (const auto* figure : {"busbw", "latency", "published"})
        names.push_back(fmt::format("nccl.{}.{}", operation, figure));
    return names;
  }();
  static const std::vector<std::string_view> kAll{kNames.begin(), kNames.end()};
  return kAll;
}

std::string_view text_in(const Parameters& parameters, std::string_view name) {
  return text_parameter(kParameters, parameters, name);
}

Result<int> number_between(const Parameters& parameters, std::string_view name, int least,
                           int most) {
  const auto written = text_in(parameters, name);
  const auto value = number<int>(written);
  if (value && *value >= least && *value <= most) return *value;
  return Error{Code::kInvalid, fmt::format("{} must be {} to {}, not '{}'", name, least, most,
                                           shortened(printable(written), 80))};
}

Result<std::string> operations_in(const Parameters& parameters) {
  std::vector<std::string_view> chosen;
  for (const auto piece : split(text_in(parameters, "ops"), ',')) {
    const auto word = trimmed(piece);
    const bool known = std::ranges::find(kOperations, word) != kOperations.end();
    if (!known || std::ranges::find(chosen, word) != chosen.end())
      return Error{Code::kInvalid,
                   fmt::format("ops must be some of {}, each once, not '{}'",
                               fmt::join(kOperations, ", "), shortened(printable(word), 80))};
    chosen.push_back(word);
  }
  return fmt::format("{}", fmt::join(chosen, ","));
}

/// Where and how ranks meet: the step's words, then the site's.
struct MeetingPlace {
  std::string interface{};  // empty: not reported
  bool as_nccl_chooses = false;
  bool any_address = false;
};

Result<MeetingPlace> meeting_place(const Parameters& parameters,
                                   const inventory::NcclSettings* site) {
  MeetingPlace place;
  const auto interface = text_in(parameters, "interface");
  place.as_nccl_chooses = interface == "any";
  if (interface == "site") {
    if (site != nullptr) place.interface = site->interface;
  } else if (!place.as_nccl_chooses) {
    TRY(place.interface, inventory::network_interface(interface));
  }
  const auto address = text_in(parameters, "address");
  if (address != "site" && address != "inventory" && address != "any")
    return Error{Code::kInvalid, "address must be site, inventory or any, not '" +
                                     shortened(printable(address), 80) + "'"};
  place.any_address =
      address == "any" || (address == "site" && site != nullptr && site->any_address);
  return place;
}

Result<Collectives> collectives_of(const Parameters& parameters,
                                   const inventory::NcclSettings* site) {
  Collectives made;
  TRY(made.operations, operations_in(parameters));
  TRY(const auto least, size_parameter(kParameters, parameters, "min"));
  TRY(const auto most, size_parameter(kParameters, parameters, "max", least));
  made.least = static_cast<std::uint64_t>(least);
  made.most = static_cast<std::uint64_t>(most);
  TRY(made.factor, number_between(parameters, "factor", 2, 1024));
  TRY(made.times, number_between(parameters, "times", 1, 10'000));
  if (text_in(parameters, "steps") != "0") {
    TRY(made.steps, number_between(parameters, "steps", 10, 100'000));
  }
  TRY(made.duration, duration_parameter(kParameters, parameters, "duration"));
  TRY(made.join, duration_parameter(kParameters, parameters, "join"));
  TRY(auto place, meeting_place(parameters, site));
  made.interface = std::move(place.interface);
  const auto written = text_in(parameters, "environment");
  if (written != "none") {
    TRY(made.environment, inventory::nccl_environment(written));
  }
  if (site != nullptr) made.environment.insert(site->environment.begin(), site->environment.end());
  return made;
}

/// Errors: kInvalid: the profile has no GPUs, or fewer.
Result<int> ranks_of(const inventory::Profile& profile, const Parameters& parameters) {
  if (text_in(parameters, "groups") == "rail") return 1;
  if (text_in(parameters, "ranks") != "all")
    return number_between(parameters, "ranks", 1, kMostGpus);
  for (const auto& parts : profile.parts)
    if (parts.kind == inventory::PartKind::gpu && parts.count > 0) return parts.count;
  return Error{Code::kInvalid, fmt::format("profile {} does not say how many GPUs a node has: say "
                                           "with: {{ranks: 8}}",
                                           profile.name)};
}

/// Its bytes: an address may be written in several ways. Nothing of a host name.
std::optional<std::vector<unsigned char>> address_bytes(const std::string& text) {
  std::vector<unsigned char> bytes(sizeof(in6_addr));
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  bytes.resize(sizeof(in_addr));
  if (::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return bytes;
  return std::nullopt;
}

bool is_an_address(const std::string& text) { return address_bytes(text).has_value(); }

using FoundBefore = decltype(RoundsRequest::found_before);

class NcclRounds : public GroupRounds {
 public:
  NcclRounds(std::vector<Member> members, Collectives collectives, int ranks_each,
             std::vector<fabric::TeamRound> rounds, std::vector<std::string> hcas, int rails,
             MeetingPlace place, FoundBefore found_before, bool has_hcas)
      : members_{std::move(members)},
        collectives_{std::move(collectives)},
        ranks_each_{ranks_each},
        rounds_{std::move(rounds)},
        hcas_{std::move(hcas)},
        rails_{rails},
        place_{std::move(place)},
        found_before_{std::move(found_before)},
        has_hcas_{has_hcas},
        left_(members_.size()) {
    for (const auto& member : members_) names_.push_back(member.node);
  }

  std::vector<std::optional<MemberJob>> next() override {
    if (round_ == rounds_.size() && bisection_) bisect();
    if (round_ == rounds_.size()) return {};
    std::vector<std::optional<MemberJob>> jobs(members_.size());
    now_.clear();
    why_.clear();
    for (auto team : rounds_[round_]) {
      // Whoever has left is waited for by nobody.
      std::erase_if(team.members, [this](std::size_t member) { return left_[member]; });
      if (team.members.size() < 2) continue;
      for (std::size_t place = 0; place < team.members.size(); ++place)
        jobs[team.members[place]] = fabric::nccl_job(
            collectives_, team, ranks_each_,
            {place, hca_of(team.members[place], team.rail), met_at(team.members[place])});
      now_.push_back(std::move(team));
    }
    ++round_;
    return now_.empty() ? next() : jobs;
  }

  Result<std::optional<std::string>> shared(std::size_t leader,
                                            std::string_view output) const override {
    TRY(auto hex, fabric::id_printed(output));
    if (!hex) return std::optional<std::string>{};
    const auto id = decode_nccl_id(*hex);
    const auto& member = members_[leader];
    if (place_.any_address || !is_an_address(member.address)) return hex;
    if (address_bytes(id->address) == address_bytes(member.address)) return hex;
    return Error{Code::kFailed,
                 fmt::format("NCCL on {} chose {} for the ranks to meet, and the inventory has {}: "
                             "say fabric: {{nccl: {{interface: NAME}}}} in the inventory, or "
                             "{{nccl: {{address: any}}}} where they meet on another network",
                             member.node, id->address, member.address)};
  }

  /// Halves are run where all of them are slow. `floor`: GB/s that the profile expects; 0: nothing.
  void bisect_below(double floor) { bisection_.emplace(names_, floor); }

  void gave_up(std::size_t leader, std::string_view why) override { why_[leader] = why; }

  void take(std::span<const std::optional<Output>> outputs,
            const std::vector<bool>& left) override {
    for (auto& team : now_) {
      TeamRun run{.team = std::move(team),
                  .ranks_each = ranks_each_,
                  .trains = collectives_.steps > 0,
                  .bisects = bisection_ && round_ > 1};
      if (const auto why = why_.find(run.team.members.front()); why != why_.end())
        run.gave_up = why->second;
      for (const auto member : run.team.members) {
        auto& report = run.reports.emplace_back();
        if (outputs[member]) report = fabric::read_across(fabric::nccl_report(*outputs[member]));
      }
      runs_.push_back(std::move(run));
    }
    left_ = left;
    if (bisection_) take_rates(now_.size());
    now_.clear();
  }

  Result<GroupFindings> findings() const override {
    TRY(auto found, fabric::across_findings(runs_, names_, hcas_, rails_, left_));
    const auto reports = newest_reports();
    const auto by_tcp = fabric::set_to_tcp(reports, names_);
    // A node without HCAs has no other way, and a site that wants TCP gets it.
    const bool judges_tcp =
        has_hcas_ && by_tcp.empty() && !fabric::asks_for_tcp(collectives_.environment);
    for (std::size_t i = 0; i < found.members.size(); ++i)
      add_facts(reports[i] == nullptr ? fabric::AcrossReport{} : *reports[i], names_[i], judges_tcp,
                found.members[i]);
    const auto differs = fabric::what_differs(reports, names_);
    if (bisection_) add_bisection(differs, found);
    say_who_was_left_out(found);
    found.reasons.insert(found.reasons.end(), differs.begin(), differs.end());
    for (auto& why : fabric::roce_settings_on_infiniband(reports, names_))
      found.reasons.push_back(std::move(why));
    if (has_hcas_ && !by_tcp.empty())
      found.reasons.push_back(fmt::format(
          "NCCL is set to TCP by its environment or nccl.conf on {}: which transport carried the "
          "bytes is not judged; look for NCCL_NET and NCCL_IB_DISABLE there if that is not meant",
          shortened(inventory::fold(by_tcp), kLongestNames)));
    return found;
  }

 private:
  std::string_view hca_of(std::size_t member, int rail) const {
    const auto at = member * static_cast<std::size_t>(rails_) + static_cast<std::size_t>(rail);
    return rail < 0 || at >= hcas_.size() ? std::string_view{} : std::string_view{hcas_[at]};
  }

  /// The address whose interface NCCL is to take; empty: it is given an interface, or may choose.
  std::string_view met_at(std::size_t member) const {
    const auto& address = members_[member].address;
    const bool free = place_.as_nccl_chooses || place_.any_address || !is_an_address(address);
    return free ? std::string_view{} : std::string_view{address};
  }

  /// Of each member; nullptr: it did not report.
  std::vector<const fabric::AcrossReport*> newest_reports() const {
    std::vector<const fabric::AcrossReport*> newest(members_.size());
    for (const auto& run : runs_)
      for (std::size_t place = 0; place < run.team.members.size(); ++place)
        if (const auto& report = run.reports[place]; report && report->burn.started)
          newest[run.team.members[place]] = &*report;
    return newest;
  }

  std::string first_operation() const {
    return collectives_.operations.substr(0, collectives_.operations.find(','));
  }

  /// What is between nodes is no fault of theirs.
  static bool accuses(Bisection::Kind kind) {
    return kind == Bisection::Kind::node || kind == Bisection::Kind::alike;
  }

  /// Whoever did not come in an earlier step of this run would keep all others waiting.
  void leave_out_the_absent() {
    if (!found_before_) return;
    const auto before = found_before_(fabric::kNcclStage);
    for (std::size_t node = 0; node < before.size() && node < names_.size(); ++node) {
      if (!before[node]) continue;
      const bool is_absent = std::ranges::any_of(before[node]->measurements, [](const auto& each) {
        return each.name == "nccl.absent" && each.value > 0;
      });
      if (!is_absent) continue;
      bisection_->leave(node);
      left_out_.push_back(node);
    }
  }

  /// They are not measured here; what is wrong with them, the earlier step says.
  void say_who_was_left_out(GroupFindings& found) const {
    constexpr std::string_view kWhy =
        "left out: an earlier step of this run found that its ranks do not come (nccl.absent)";
    std::vector<std::string> names;
    for (const auto node : left_out_) {
      names.push_back(names_[node]);
      auto& own = found.members[node];
      own.measurements = {{"nccl.undecided", names_[node], 1, "count", std::string{kWhy}}};
      own.unknown = {{"nccl.all_reduce.busbw", "collectives", std::string{kWhy}}};
    }
    if (!names.empty()) found.reasons.push_back(inventory::fold(names) + ": " + std::string{kWhy});
  }

  /// The next round, if there is one. Halves are compared at the largest size of one operation.
  void bisect() {
    if (rounds_.empty()) leave_out_the_absent();
    const bool halves = bisection_->wants_halves();
    if (halves && !links_) {
      links_ = link_word_now();
      if (!links_->doubt.empty())
        bisection_->give_up("not bisected: fabric-pairs doubts the links: " + links_->doubt);
    }
    auto teams = bisection_->next();
    if (teams.empty()) return;
    auto& round = rounds_.emplace_back();
    for (auto& members : teams) {
      std::vector<std::string> names;
      for (const auto member : members) names.push_back(names_[member]);
      round.push_back(
          {names.size() == names_.size() ? "all" : inventory::fold(names), std::move(members)});
    }
    if (!halves) return;
    collectives_.operations = first_operation();
    collectives_.least = collectives_.most;
  }

  fabric::LinkWord link_word_now() const {
    if (!found_before_) return {};
    return fabric::link_word(found_before_("fabric-pairs"), names_);
  }

  /// Of the teams of this round, which were taken last.
  void take_rates(std::size_t teams) {
    std::vector<double> rates;
    std::vector<std::size_t> absent;
    for (const auto& run : std::span{runs_}.last(teams)) {
      rates.push_back(fabric::busbw_of(run, names_, first_operation()));
      if (const auto stall = fabric::stall_of(run, names_))
        for (const auto place : stall->nodes) absent.push_back(run.team.members[place]);
    }
    bisection_->take(rates);
    for (const auto node : absent) bisection_->leave(node);
    for (std::size_t i = 0; i < left_.size(); ++i)
      if (left_[i]) bisection_->leave(i);
  }

  void add_bisection(std::span<const std::string> differs, GroupFindings& found) const {
    constexpr double kPercent = 100;
    constexpr std::size_t kMostReasons = 50, kLongest = 800;
    for (const auto& reason : bisection_->reasons()) found.reasons.push_back(reason);
    // In the record of each node: what differs stands in full under the reasons.
    const auto unlike =
        differs.empty() ? std::string{"NCCL, CUDA, drivers and NCCL's variables are alike on all "
                                      "nodes"}
                        : shortened(fmt::format("{}", fmt::join(differs, "; ")), kLongest);
    std::size_t reporting = 0;
    const auto put = [&](std::size_t node, std::string measure, double value, std::string unit,
                         std::string why) {
      found.members[node].measurements.push_back(
          {std::move(measure), names_[node], value, std::move(unit), std::move(why)});
    };
    std::vector<bool> suspected(names_.size());
    for (const auto& each : bisection_->suspicions()) {
      auto nodes = each.nodes;
      nodes.insert(nodes.end(), each.others.begin(), each.others.end());
      for (const auto node : nodes) suspected[node] = true;
      if (!accuses(each.kind)) {
        const bool of_fabric = each.kind != Bisection::Kind::undecided;
        if (of_fabric && ++reporting <= kMostReasons)
          found.reasons.push_back("the fabric, and no node: " + each.why);
        for (const auto node : nodes)
          found.members[node].measurements.push_back(
              {"nccl.undecided", of_fabric ? "fabric" : names_[node], 1, "count", each.why});
        continue;
      }
      const auto why = fmt::format(
          "{}: {}; {}",
          links_ && links_->measured ? "the links are well, NCCL is not"
                                     : "NCCL is slow, and fabric-pairs has not measured all links",
          each.why, unlike);
      if (++reporting <= kMostReasons) found.reasons.push_back(why);
      for (const auto node : each.nodes) put(node, "nccl.slow", kPercent * each.loss, "%", why);
    }
    for (const auto node : bisection_->cleared())
      if (!suspected[node]) put(node, "nccl.slow", 0, "%", {});
  }

  /// What was set, NCCL's version, and what carried the bytes: the figures depend on all three.
  void add_facts(const fabric::AcrossReport& report, const std::string& node, bool judges_tcp,
                 Findings& findings) const {
    if (!report.burn.nccl.empty()) findings.facts["nccl.version"] = report.burn.nccl;
    auto ways = fabric::transport_words(report);
    if (const auto tcp = fabric::tcp_channels(report); tcp && judges_tcp)
      findings.measurements.push_back({"nccl.tcp", node, *tcp, "count", *tcp > 0 ? ways : ""});
    if (!ways.empty()) findings.facts["nccl.transport"] = std::move(ways);
    std::string set;
    for (const auto& [name, value] : collectives_.environment)
      set += fmt::format("{}{}={}", set.empty() ? "" : " ", name, value);
    if (!set.empty()) findings.facts["nccl.environment"] = set;
    if (!collectives_.interface.empty()) findings.facts["nccl.interface"] = collectives_.interface;
  }

  std::vector<Member> members_;
  std::vector<std::string> names_{};
  Collectives collectives_;
  int ranks_each_;
  std::vector<fabric::TeamRound> rounds_;
  std::vector<std::string> hcas_;
  int rails_;
  MeetingPlace place_;
  FoundBefore found_before_;
  bool has_hcas_;
  std::optional<Bisection> bisection_{};
  std::optional<fabric::LinkWord> links_{};  // asked for before the first halves
  std::vector<bool> left_;
  std::vector<std::size_t> left_out_{};  // known to be absent before the first round
  std::size_t round_ = 0;
  std::vector<Team> now_{};
  std::map<std::size_t, std::string> why_{};  // by leader
  std::vector<TeamRun> runs_{};
};

/// GB/s that the profile expects of the first operation over whole nodes, not of one rail; 0:
/// nothing.
double floor_of(const inventory::Profile& profile, std::string_view operations) {
  const auto measure = fmt::format("nccl.{}.busbw", operations.substr(0, operations.find(',')));
  for (const auto& criterion : profile.criteria)
    if (criterion.measure == measure && criterion.at_least &&
        std::ranges::find(criterion.parts, "") != criterion.parts.end() &&
        (criterion.unit.empty() || criterion.unit == "GB/s"))
      return *criterion.at_least;
  return 0;
}

bool has_hcas(const inventory::Profile& profile) {
  return std::ranges::any_of(profile.parts, [](const auto& parts) {
    return parts.kind == inventory::PartKind::hca && parts.count > 0;
  });
}

Result<std::unique_ptr<GroupRounds>> rounds(const RoundsRequest& request) {
  TRY(auto collectives, collectives_of(request.parameters, request.nccl));
  TRY(auto place, meeting_place(request.parameters, request.nccl));
  TRY(const auto groups, word_parameter(kParameters, request.parameters, "groups"));
  TRY(const auto ranks, ranks_of(request.profile, request.parameters));
  std::vector<std::string> names;
  for (const auto& member : request.members) names.push_back(member.node);
  std::optional<fabric::PlannedWiring> plan;
  if (request.fabric != nullptr && (groups == "leaf" || groups == "rail")) {
    TRY(plan, fabric::wiring_of(*request.fabric, names, fabric::Routing::unknown));
  }
  const bool bisects = groups == "bisect";
  if (bisects && collectives.steps > 0)
    return Error{Code::kInvalid, "groups: bisect compares collectives: leave steps at 0"};
  std::vector<fabric::TeamRound> teams;
  if (!bisects) {
    TRY(teams, fabric::teams_of(groups, names, plan ? &*plan : nullptr));
  }
  const auto floor = floor_of(request.profile, collectives.operations);
  auto made = std::make_unique<NcclRounds>(
      std::vector<Member>{request.members.begin(), request.members.end()}, std::move(collectives),
      ranks, std::move(teams), plan ? plan->names.hcas : std::vector<std::string>{},
      plan ? plan->wiring.rails : 0, std::move(place), request.found_before,
      has_hcas(request.profile));
  if (bisects) made->bisect_below(floor);
  return made;
}

Result<Job> prepare(const inventory::Profile& profile, const Parameters& parameters) {
  constexpr int kMostRails = 64;
  TRY(const auto collectives, collectives_of(parameters, nullptr));
  TRY(const auto groups, word_parameter(kParameters, parameters, "groups"));
  TRY(ranks_of(profile, parameters));
  const int rounds = groups == "pairs"    ? 3
                     : groups == "rail"   ? kMostRails
                     : groups == "bisect" ? Bisection::kMostRounds + Bisection::kMostWatchRounds
                                          : 1;
  // Its order is of no round: those are made when it is known who takes part.
  return agent_job({.stage = fabric::kNcclStage, .tools = {"cupel-burn"}},
                   (groups == "pairs" || groups == "bisect" ? 2 : 1) * collectives.duration,
                   rounds * fabric::nccl_limit(collectives));
}

Result<Findings> parse(const inventory::Profile&, const Output& output) {
  TRY(script::check_gave_up(output));
  return Error{Code::kNoMeasurement, "it takes two nodes or more: group_by: all"};
}

bool measures_the_plan(const Parameters& parameters) {
  const auto groups = text_in(parameters, "groups");
  return groups == "leaf" || groups == "rail" || text_in(parameters, "planned") == "yes";
}

constexpr GroupStage kGroup{
    .least = 2, .most = 4096, .rounds = rounds, .needs_plan = measures_the_plan};

}  // namespace

Stage fabric_nccl() {
  Stage row{fabric::kNcclStage,
            "NCCL's collectives over several nodes without MPI: rates, wrong results, and who did "
            "not come (cupel-burn)",
            kParameters,
            prepare,
            parse,
            measures(),
            {0.5, 0, "all NVLinks, HCAs and some SMs at work"},
            kPrograms};
  row.group = &kGroup;
  return row;
}

}  // namespace cupel::burnin
