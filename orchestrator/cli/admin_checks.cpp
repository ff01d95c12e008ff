#include "orchestrator/cli/admin_checks.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/ownership.h"
#include "base/paths.h"
#include "base/text.h"
#include "bmc/ipmi/ping.h"
#include "bmc/scan/scan.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/node_range.h"
#include "inventory/slurm_site.h"
#include "orchestrator/cli/sim_program.h"
#include "orchestrator/handoff/kubernetes.h"
#include "orchestrator/handoff/slurm.h"
#include "orchestrator/handoff/slurm_rights.h"
#include "orchestrator/ssh/programs.h"
#include "orchestrator/store/controller_lock.h"
#include "orchestrator/store/purpose.h"
#include "orchestrator/store/server_look.h"
#include "orchestrator/store/store.h"

namespace cupel::cli {
namespace {

namespace fs = std::filesystem;
using Level = AdminCheck::Level;
using Checks = std::vector<AdminCheck>;

AdminCheck fine(std::string about, std::string found) {
  return {Level::ok, std::move(about), std::move(found), {}};
}

/// BMC logs, certificates and evidence are dated by this clock. Source: adjtimex(2), STA_UNSYNC.
AdminCheck clock_check() {
  timex state{};
  const int reported = ::adjtimex(&state);
  const bool synchronised =
      reported >= 0 && reported != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
  if (synchronised) return fine("clock", "synchronised");
  return {Level::warning, "clock", "the kernel reports that it is not synchronised",
          "install chrony or systemd-timesyncd; see timedatectl"};
}

/// A connection to its BMC, one for SSH, a console, and a file of its record: measured with racks
/// of virtual nodes.
constexpr std::uint64_t kFilesOfANode = 6;
constexpr std::uint64_t kFilesOfTheController = 256;

AdminCheck files_check(std::size_t nodes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto needed = kFilesOfTheController + kFilesOfANode * nodes;
  const auto found = fmt::format("{} may be open (hard limit {}), {} nodes need about {}",
                                 limit.rlim_cur, limit.rlim_max, nodes, needed);
  if (limit.rlim_cur >= needed) return fine("open files", found);
  return {Level::failure, "open files", found,
          fmt::format("ulimit -n {}, or LimitNOFILE={} in the unit", needed, needed)};
}

std::string gigabytes(double bytes) { return fmt::format("{:.1f} GB", bytes / 1e9); }

/// The folder, or the nearest one above it that exists: where its disk is seen before it is made.
fs::path existing(fs::path folder) {
  std::error_code failure;
  while (!folder.empty() && folder != folder.root_path() && !fs::exists(folder, failure))
    folder = folder.parent_path();
  return folder.empty() ? fs::path{"."} : folder;
}

/// Of a run: events and packed evidence of a node that burned for hours (docs/know/benchmarks.md).
constexpr double kBytesOfANode = 2e6;
constexpr double kLeastFree = 2e9;

AdminCheck disk_check(const fs::path& state, std::size_t nodes) {
  struct statfs disk{};
  const auto folder = existing(absolute_path(state));
  if (::statfs(folder.c_str(), &disk) != 0)
    return {Level::failure, "disk", fmt::format("{} cannot be looked at", folder.string()),
            "see the folder's owner and mode"};
  const auto free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_bsize);
  const auto needed = kLeastFree + kBytesOfANode * static_cast<double>(nodes) * 10;
  const auto found = fmt::format("{} free in {}", gigabytes(free), folder.string());
  if (free >= needed) return fine("disk", found);
  return {Level::warning, "disk", found,
          fmt::format("{} are enough for ten runs; remove old ones: cupel store prune --keep 20",
                      gigabytes(needed))};
}

/// SQLite's WAL needs memory that all processes share, so one machine's disk. Source: SQLite,
/// "Write-Ahead Logging", "does not work over a network filesystem"; statfs(2), f_type.
AdminCheck file_system_check(const fs::path& state) {
  constexpr long kNfs = 0x6969, kSmb = 0x517b, kSmb2 = static_cast<long>(0xfe534d42),
                 kFuse = 0x65735546;
  struct statfs disk{};
  const auto folder = existing(absolute_path(state));
  if (::statfs(folder.c_str(), &disk) != 0) return fine("file system", "not looked at");
  const long type = disk.f_type;
  if (type == kNfs || type == kSmb || type == kSmb2)
    return {Level::failure, "file system", folder.string() + " is on a network file system",
            "put the state folder on a local disk, and copy it elsewhere: cupel backup FOLDER"};
  if (type == kFuse)
    return {Level::warning, "file system", folder.string() + " is on a FUSE file system",
            "the journal needs shared memory maps and fsync: prefer a local disk"};
  return fine("file system", "local");
}

AdminCheck store_check(const fs::path& state) {
  if (!store::has_store(state)) {
    const auto folder = existing(absolute_path(state));
    if (::access(folder.c_str(), W_OK) == 0)
      return fine("store", fmt::format("none yet in {}", state.string()));
    return {Level::failure, "store", fmt::format("none, and {} cannot be written", folder.string()),
            "name another folder with --state"};
  }
  const auto opened = store::Store::open(state);
  if (!opened)
    return {Level::failure, "store", printable(opened.error().what), "cupel store verify"};
  const auto holder = store::ControllerLock::holder(state);
  return fine("store", holder ? fmt::format("opens; controller: process {}", holder->pid)
                              : std::string{"opens; no controller works"});
}

/// Of the server that has the store, where one does.
Checks server_checks(const fs::path& state) {
  const auto look = store::look_at_server(state);
  if (!look)
    return {{Level::failure, "store's server", printable(look.error().what),
             "see the server, and store.yaml in the state folder"}};
  if (!*look) return {};
  const auto& [where, risks] = **look;
  if (risks.empty()) return {fine("store's server", printable(where))};
  return {{Level::failure, "store's server",
           fmt::format("{}: {}", printable(where), fmt::join(risks, ", ")),
           "it can lose what it acknowledged: turn it on in postgresql.conf, and restart the "
           "server"}};
}

Checks program_checks(const AdminQuestion& question) {
  Checks checks;
  ssh::ProgramShelf shelf{ssh::program_folders(question.programs)};
  const auto node = shelf.find(ssh::kNodeProgram);
  if (node && *node)
    checks.push_back(fine("cupel-node", "sha256 " + (*node)->sha256.substr(0, 12)));
  else
    checks.push_back({Level::failure, "cupel-node",
                      node ? std::string{"not found"} : printable(node.error().what),
                      "install the package cupel-node, run scripts/install, or --programs FOLDER"});
  const auto burn = shelf.find("cupel-burn");
  bool gpus = false;
  if (question.inventory != nullptr)
    for (const auto& each : question.inventory->nodes)
      gpus = gpus || question.inventory->profile_of(each).has_gpus();
  if (burn && *burn)
    checks.push_back(fine("cupel-burn", "sha256 " + (*burn)->sha256.substr(0, 12)));
  else if (gpus)
    checks.push_back({Level::warning, "cupel-burn", "not found, and the inventory has GPUs",
                      "install the package cupel-burn, or build it where a CUDA toolkit is: "
                      "scripts/install"});
  const auto sim = find_sim(question.programs);
  if (sim)
    checks.push_back(fine("cupel-sim", *sim));
  else
    checks.push_back({Level::warning, "cupel-sim", "not found: no rehearsals",
                      "install the package cupel-sim, run scripts/install, or --programs FOLDER"});
  return checks;
}

bool is_address(const std::string& host) {
  in6_addr buffer{};
  return ::inet_pton(AF_INET, host.c_str(), &buffer) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &buffer) == 1;
}

/// Names of the inventory, resolved one after the other for at most `kPatience`.
AdminCheck names_check(const inventory::Inventory& inventory) {
  constexpr std::chrono::seconds kPatience{15};
  constexpr std::size_t kMostNamed = 5;
  std::set<std::string> names;
  for (const auto& node : inventory.nodes)
    for (const auto& host : {node.bmc.endpoint.host, node.ssh.endpoint.host})
      if (!host.empty() && !is_address(host)) names.insert(host);
  if (names.empty()) return fine("names", "the inventory has addresses only");
  const auto deadline = Deadline::in(kPatience);
  std::vector<std::string> unknown;
  std::size_t asked = 0;
  for (const auto& name : names) {
    if (deadline.passed()) break;
    ++asked;
    addrinfo* found = nullptr;
    if (::getaddrinfo(name.c_str(), nullptr, nullptr, &found) != 0) unknown.push_back(name);
    if (found != nullptr) ::freeaddrinfo(found);
  }
  const auto found =
      fmt::format("{} of {} names asked, {} not found", asked, names.size(), unknown.size());
  if (unknown.empty()) return fine("names", found);
  unknown.resize(std::min(unknown.size(), kMostNamed));
  return {Level::failure, "names", fmt::format("{}: {}", found, fmt::join(unknown, ", ")),
          "add them to DNS or /etc/hosts, or write addresses into the inventory"};
}

const inventory::Node* bmc_to_try(const AdminQuestion& question) {
  const auto& nodes = question.inventory->nodes;
  if (!question.node.empty()) return question.inventory->node(question.node);
  return nodes.empty() ? nullptr : &nodes.front();
}

Task<Result<std::string>> ping_bmc(bmc::ipmi::Transport& transport, inventory::Endpoint endpoint,
                                   Deadline deadline) {
  CO_TRY(const auto presence, co_await bmc::ipmi::ping(transport, std::move(endpoint), deadline));
  if (!presence.ipmi) co_return Error{Code::kNotFound, "no IPMI"};
  co_return std::string{"IPMI"};
}

/// One BMC's service root, without a login; IPMI where the inventory has it.
AdminCheck bmc_check(const inventory::Node& node) {
  asio::io_context io{1};
  bmc::scan::Options options{.hosts = {node.bmc.endpoint.host}, .port = node.bmc.endpoint.port};
  bmc::ipmi::Transport ipmi{io.get_executor()};
  if (node.bmc.ipmi) {
    const auto port = node.bmc.ipmi->endpoint.port;
    options.ipmi_port = port;
    options.ping = [&ipmi, port](std::string host, Deadline deadline) {
      return ping_bmc(ipmi, {std::move(host), port}, deadline);
    };
  }
  const auto about = "BMC of " + node.name;
  const auto found = run_to_end(io, bmc::scan::scan(std::move(options)));
  if (found && !found->empty() && !found->front().ways.empty()) {
    const auto& bmc = found->front();
    return fine(about,
                fmt::format("{} answers by {} ({})", inventory::to_string(node.bmc.endpoint),
                            fmt::join(bmc.ways, " and "),
                            bmc.vendor.empty() ? "vendor not reported" : printable(bmc.vendor)));
  }
  const auto why =
      !found ? found.error().what
             : (found->empty() ? std::string{"no answer in 3 s"} : found->front().unclear);
  return {Level::failure, about,
          fmt::format("{}: {}", inventory::to_string(node.bmc.endpoint), printable(why)),
          fmt::format("check the route to the out-of-band network, then: cupel bmc {} power",
                      node.name)};
}

/// Nodes of the inventory that slurmctld does not have: a run could not drain them.
AdminCheck slurm_nodes_check(const inventory::Inventory& inventory,
                             const Result<std::vector<handoff::SlurmNode>>& known) {
  constexpr std::size_t kLongest = 200;
  if (!known)
    return {Level::warning, "Slurm nodes", printable(known.error().what), "scontrol show node"};
  std::set<std::string> names;
  for (const auto& each : *known) names.insert(each.name);
  std::vector<std::string> unknown;
  std::size_t all = 0;
  for (const auto& node : inventory.nodes) {
    if (!inventory.is_of_slurm(node)) continue;
    ++all;
    if (!names.contains(node.slurm_name)) unknown.push_back(node.slurm_name);
  }
  if (unknown.empty()) return fine("Slurm nodes", fmt::format("Slurm knows all {}", all));
  return {Level::warning, "Slurm nodes",
          fmt::format("Slurm does not know {} of {}: {}", unknown.size(), all,
                      shortened(inventory::fold(unknown), kLongest)),
          "add their lines to slurm.conf (cupel slurm conf), then: scontrol reconfigure"};
}

AdminCheck slurm_rights_check(const handoff::SlurmRights& rights) {
  using Right = handoff::SlurmRights::Right;
  if (rights.right == Right::has) return fine("Slurm rights", rights.why);
  const auto found = rights.right == Right::lacks
                         ? "this user may not change nodes: " + rights.why
                         : "not known whether this user may change nodes: " + rights.why;
  return {Level::warning, "Slurm rights", found,
          rights.helps.empty() ? "run Cupel as SlurmUser, or see docs/start/first-day.md"
                               : rights.helps};
}

/// Where slurmctld answers scontrol, or slurmrestd: whether it has the nodes, and whether this user
/// may change them. Whom the token of a slurmrestd is for, sacctmgr of this machine need not know.
Checks slurm_checks(const inventory::Inventory& inventory) {
  constexpr std::chrono::seconds kPatience{20};
  const auto& site = *inventory.slurm;
  asio::io_context io{1};
  handoff::Slurm slurm{site};
  const auto answer = run_to_end(io, slurm.ping(Deadline::in(kPatience)));
  if (!answer) {
    const auto* next =
        site.rest ? "see slurm: rest in the inventory"
                  : "apt-get install slurm-client, copy slurm.conf and munge.key of the cluster, "
                    "then: scontrol ping";
    return {{Level::failure, "Slurm", printable(answer.error().what), next}};
  }
  Checks checks{fine("Slurm", *answer)};
  const auto deadline = Deadline::in(kPatience);
  const auto known = run_to_end(io, slurm.nodes(deadline));
  checks.push_back(slurm_nodes_check(inventory, known));
  if (site.rest) return checks;
  auto rights = handoff::slurm_rights(name_of_user(::geteuid()), site.configuration, deadline);
  checks.push_back(slurm_rights_check(run_to_end(io, std::move(rights))));
  return checks;
}

/// Asks for its first node: the server, the token and its rights in one.
AdminCheck kubernetes_check(const inventory::Inventory& inventory) {
  const auto first = std::ranges::find_if(inventory.nodes, [&](const inventory::Node& each) {
    return inventory.is_of_kubernetes(each);
  });
  if (first == inventory.nodes.end())
    return {Level::warning, "Kubernetes", "it has none of the nodes",
            "name it in scheduler: of nodes, or leave out kubernetes: in the inventory"};
  asio::io_context io{1};
  const auto scheduler = std::make_shared<handoff::Kubernetes>(*inventory.kubernetes);
  const auto& node = *first;
  const auto deadline = Deadline::in(std::chrono::seconds{20});
  const auto state = run_to_end(io, scheduler->look(node, inventory.profile_of(node), deadline));
  if (state) return fine("Kubernetes", "answers for " + state->name);
  return {Level::failure, "Kubernetes", printable(state.error().what),
          "see kubernetes: in the inventory"};
}

AdminCheck inventory_check(const inventory::Inventory& inventory) {
  const auto owned = check_ownership(inventory.file);
  const auto found = fmt::format("{}: {} nodes", inventory.file, inventory.nodes.size());
  if (owned) return fine("inventory", found);
  return {Level::failure, "inventory", printable(owned.error().what),
          "only you and root may write to files that Cupel obeys"};
}

}  // namespace

std::vector<AdminCheck> check_admin_node(const AdminQuestion& question) {
  const auto nodes = question.inventory == nullptr ? 0 : question.inventory->nodes.size();
  Checks checks{clock_check(), files_check(nodes), disk_check(question.state, nodes),
                file_system_check(question.state), store_check(question.state)};
  for (auto& each : server_checks(question.state)) checks.push_back(std::move(each));
  for (auto& each : program_checks(question)) checks.push_back(std::move(each));
  if (question.inventory == nullptr) return checks;
  checks.push_back(inventory_check(*question.inventory));
  checks.push_back(names_check(*question.inventory));
  if (const auto* node = bmc_to_try(question)) checks.push_back(bmc_check(*node));
  if (question.inventory->slurm)
    for (auto& each : slurm_checks(*question.inventory)) checks.push_back(std::move(each));
  if (question.inventory->kubernetes) checks.push_back(kubernetes_check(*question.inventory));
  return checks;
}

boost::json::object to_json(const AdminCheck& check) {
  const char* level = check.level == Level::ok        ? "ok"
                      : check.level == Level::warning ? "warning"
                                                      : "failure";
  return {{"about", valid_utf8(check.about)},
          {"level", level},
          {"found", valid_utf8(check.found)},
          {"advice", valid_utf8(check.advice)}};
}

}  // namespace cupel::cli
