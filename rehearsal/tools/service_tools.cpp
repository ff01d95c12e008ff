// What an operator asks of services, time and network: systemctl, systemd-run, chronyc, ip,
// ethtool.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/physics/random.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/fault_now.h"
#include "rehearsal/tools/gpu_view.h"
#include "rehearsal/tools/infiniband.h"
#include "rehearsal/tools/nap.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

/// The process that stands for a timer of systemd-run; nullptr where there is none of that name.
ProcessPtr timer_of(const Host& host, std::string_view unit) {
  if (!unit.ends_with(".timer")) return nullptr;
  for (const auto& [number, process] : host.processes())
    if (process->command == unit && process->parent == 1) return process;
  return nullptr;
}

/// "active", "inactive", "failed"; nothing where there is no such unit.
std::optional<std::string> state_of(const Host& host, std::string unit) {
  if (timer_of(host, unit)) return "active";
  if (unit.ends_with(".service")) unit.resize(unit.size() - 8);
  if (unit == "nvidia-fabricmanager") {
    if (host.machine().hardware().nvswitches.empty()) return std::nullopt;
    if (fabric_manager(host).running) return "active";
    const bool other = fault_now(host.machine(), FaultKind::fabric_manager_version) != nullptr;
    return other ? "failed" : "inactive";
  }
  const bool sets_clock = unit == "chrony" || unit == "chronyd";
  if (sets_clock && fault_now(host.machine(), FaultKind::time_service_off)) return "inactive";
  constexpr std::array<std::string_view, 8> kRunning{
      "ssh",     "sshd",    "nvidia-persistenced", "nvidia-dcgm", "chrony",
      "chronyd", "openibd", "systemd-journald"};
  if (std::ranges::find(kRunning, unit) != kRunning.end()) return "active";
  return std::nullopt;
}

std::string status_text(const Host& host, const std::string& unit, const std::string& state) {
  auto text = fmt::format(
      "{} {}.service\n     Loaded: loaded (/lib/systemd/system/{}.service; "
      "enabled; preset: enabled)\n     Active: {}\n",
      state == "active"   ? "●"
      : state == "failed" ? "×"
                          : "○",
      unit, unit,
      state == "active"   ? "active (running)"
      : state == "failed" ? "failed (Result: exit-code)"
                          : "inactive (dead)");
  const auto manager = fabric_manager(host);
  const auto driver = driver_version(host.machine().hardware());
  if (unit == "nvidia-fabricmanager" && manager.version != driver)
    text += fmt::format(
        "\nnv-fabricmanager[1803]: fabric manager NVIDIA GPU driver interface version "
        "{} don't match with driver version {}. Please update with matching NVIDIA "
        "driver package.\n",
        manager.version, driver);
  return text;
}

Task<int> systemctl(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "qan:p:l",
                                     {{"no-pager", 'a'},
                                      {"quiet", 'q'},
                                      {"no-legend", 'a'},
                                      {"lines", 'n'},
                                      {"property", 'p'},
                                      {"full", 'l'},
                                      {"failed", 'F'},
                                      {"state", 'S'},
                                      {"plain", 'a'}});
  if (!options.unknown.empty()) {
    const auto text = fmt::format("systemctl: unrecognized option '{}'\n", options.unknown);
    co_await process->print_error(text);
    co_return 1;
  }
  const auto what = options.operands.empty() ? std::string{"list-units"} : options.operands[0];
  int status = 0;
  std::string text;
  for (std::size_t i = 1; i < options.operands.size(); ++i) {
    const auto& unit = options.operands[i];
    const auto state = state_of(process->host, unit);
    if (what == "is-active" || what == "is-failed") {
      text += state.value_or("inactive") + "\n";
      const bool good = what == "is-active" ? state == "active" : state == "failed";
      if (!good) status = what == "is-active" ? 3 : 1;
    } else if (what == "is-enabled") {
      text += state ? "enabled\n" : "";
      if (!state) status = 1;
    } else if (!state) {
      const auto line = fmt::format("Unit {}.service could not be found.\n", unit);
      co_await process->print_error(line);
      co_return 4;
    } else if (const auto timer = timer_of(process->host, unit); timer && what == "stop") {
      timer->signal(9);
    } else if (what == "status") {
      text += status_text(process->host, unit, *state);
      if (*state != "active") status = 3;
    } else if (what == "show") {
      text += fmt::format("Id={}.service\nActiveState={}\nSubState={}\n", unit, *state,
                          *state == "active" ? "running" : "dead");
    } else if ((what == "start" || what == "restart") && *state != "active") {
      const auto line = fmt::format(
          "Job for {0}.service failed because the control process exited "
          "with error code.\nSee \"systemctl status {0}.service\" and "
          "\"journalctl -xeu {0}.service\" for details.\n",
          unit);
      co_await process->print_error(line);
      co_return 1;
    }
  }
  if (options.operands.size() < 2 && (what == "list-units" || options.has('F'))) {
    const auto fabric = state_of(process->host, "nvidia-fabricmanager");
    text = "  UNIT LOAD ACTIVE SUB DESCRIPTION\n";
    if (fabric == "failed")
      text += "● nvidia-fabricmanager.service loaded failed failed NVIDIA fabric manager service\n";
    text += fabric == "failed" ? "1 loaded units listed.\n" : "0 loaded units listed.\n";
  }
  if (!options.has('q')) co_await process->say(text);
  co_return status;
}

Task<int> nv_fabricmanager(ProcessPtr process, Arguments) {
  if (process->host.machine().hardware().nvswitches.empty()) co_return 127;
  const auto text = "Fabric Manager version is : " + fabric_manager(process->host).version + "\n";
  co_await process->say(text);
  co_return 0;
}

Task<int> chronyc(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "nac");
  const auto what = options.operands.empty() ? std::string{"tracking"} : options.operands[0];
  if (what != "tracking") {
    co_await process->say("Unrecognized command\n");
    co_return 1;
  }
  if (fault_now(process->host.machine(), FaultKind::time_service_off)) {
    co_await process->print_error("506 Cannot talk to daemon\n");
    co_return 1;
  }
  const auto draw = Draw{5}.of(process->host.machine().hardware().serial);
  const auto* wrong = fault_now(process->host.machine(), FaultKind::node_clock_wrong);
  const double offset = (draw.of("offset").uniform() - 0.5) * 4e-5;
  const auto seconds = static_cast<std::time_t>(process->now() - 24);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char when[64] = "";
  std::strftime(when, sizeof when, "%a %b %d %H:%M:%S %Y", &parts);
  // A clock that is years off was never set by its servers.
  const auto text =
      wrong ? std::string{"Reference ID    : 00000000 ()\nStratum         : 0\nRef time (UTC)  : Thu "
                          "Jan 01 00:00:00 1970\nSystem time     : 0.000000000 seconds fast of NTP "
                          "time\nLast offset     : +0.000000000 seconds\nRMS offset      : 0.000000000 "
                          "seconds\nFrequency       : 0.000 ppm slow\nResidual freq   : +0.000 "
                          "ppm\nSkew            : 0.000 ppm\nRoot delay      : 1.000000000 "
                          "seconds\nRoot dispersion : 1.000000000 seconds\nUpdate interval : 0.0 "
                          "seconds\nLeap status     : Not synchronised\n"}
            : fmt::format(
                  "Reference ID    : 0A000001 (10.0.0.1)\nStratum         : 3\nRef time (UTC)  : {}\n"
                  "System time     : {:.9f} seconds {} of NTP time\nLast offset     : {:+.9f} "
                  "seconds\nRMS offset      : {:.9f} seconds\nFrequency       : {:.3f} ppm slow\n"
                  "Residual freq   : +0.001 ppm\nSkew            : 0.028 ppm\nRoot delay      : "
                  "0.000412907 seconds\nRoot dispersion : 0.000391217 seconds\nUpdate interval : 64.4 "
                  "seconds\nLeap status     : Normal\n",
                  when, std::abs(offset), offset > 0 ? "fast" : "slow", offset,
                  std::abs(offset) * 1.3, 2 + draw.of("ppm").uniform() * 20);
  co_await process->say(text);
  co_return 0;
}

struct Link {
  int number = 1;
  std::string name{}, mac{};
  int mtu = 1500;
  bool up = true, infiniband = false;
};

std::vector<Link> links_of(const Host& host) {
  std::vector<Link> all{{1, "lo", "00:00:00:00:00:00", 65536}};
  for (const auto& adapter : host.machine().hardware().adapters) {
    const bool up = !adapter.infiniband || read_port(host, adapter.name).state == PortState::active;
    all.push_back({static_cast<int>(all.size()) + 1, net_name(adapter), link_address(adapter),
                   adapter.infiniband ? 4092 : 1500, up, adapter.infiniband});
  }
  return all;
}

Task<int> ip(ProcessPtr process, Arguments arguments) {
  bool brief = false, as_json = false;
  Arguments words;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    if (word == "-br" || word == "-brief")
      brief = true;
    else if (word == "-j" || word == "-json")
      as_json = true;
    else if (word == "-o" || word == "-4" || word == "-6" || word == "-s" || word == "-d")
      continue;
    else if (word.starts_with('-')) {
      const auto text = fmt::format("Option \"{}\" is unknown, try \"ip -help\".\n", word);
      co_await process->print_error(text);
      co_return 255;
    } else
      words.push_back(word);
  }
  const auto object = words.empty() ? std::string{} : words[0];
  const bool known = !object.empty() && (std::string_view{"address"}.starts_with(object) ||
                                         std::string_view{"link"}.starts_with(object));
  if (!known) {
    const auto text = fmt::format("Object \"{}\" is unknown, try \"ip help\".\n", object);
    co_await process->print_error(text);
    co_return 1;
  }
  std::string text;
  json::array all;
  for (const auto& link : links_of(process->host)) {
    const bool selected = words.size() < 3 || words.back() == link.name || words.back() == "show";
    if (!selected) continue;
    const std::string_view state = link.name == "lo" ? "UNKNOWN" : link.up ? "UP" : "DOWN";
    const auto flags = link.name == "lo" ? "LOOPBACK,UP,LOWER_UP"
                       : link.up         ? "BROADCAST,MULTICAST,UP,LOWER_UP"
                                         : "NO-CARRIER,BROADCAST,MULTICAST,UP";
    all.push_back(json::object{{"ifindex", link.number},
                               {"ifname", link.name},
                               {"mtu", link.mtu},
                               {"operstate", state},
                               {"link_type", link.infiniband ? "infiniband" : "ether"},
                               {"address", link.mac}});
    if (brief)
      text += fmt::format("{:<16} {:<14} {} <{}> \n", link.name, state, link.mac, flags);
    else
      text += fmt::format(
          "{}: {}: <{}> mtu {} qdisc mq state {} mode DEFAULT group default qlen "
          "1000\n    link/{} {} brd {}\n",
          link.number, link.name, flags, link.mtu, state, link.infiniband ? "infiniband" : "ether",
          link.mac,
          // RFC 4391, 4: the broadcast group of the default partition.
          link.infiniband ? "00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff"
                          : "ff:ff:ff:ff:ff:ff");
  }
  if (as_json) text = json::serialize(all) + "\n";
  co_await process->say(text);
  co_return 0;
}

Task<int> ethtool(ProcessPtr process, Arguments arguments) {
  const auto options = parse_options(arguments, "iSmk");
  if (!options.unknown.empty()) {
    co_await process->print_error(
        "ethtool: bad command line argument(s)\nFor more information run ethtool -h\n");
    co_return 1;
  }
  const auto name = options.operands.empty() ? std::string{} : options.operands[0];
  for (const auto& adapter : process->host.machine().hardware().adapters) {
    if (net_name(adapter) != name) continue;
    const auto port = read_port(process->host, adapter.name);
    const bool up = !adapter.infiniband || port.state == PortState::active;
    const double gbit = adapter.infiniband ? port.gbit : 100;
    const auto driver = adapter.infiniband ? "mlx5_core[ib_ipoib]" : "ice";
    const auto text =
        options.has('i')
            ? fmt::format("driver: {}\nversion: 6.1.0\nfirmware-version: {}\nbus-info: {}\n",
                          driver, adapter.firmware, adapter.pci)
            : fmt::format(
                  "Settings for {}:\n\tSpeed: {}\n\tDuplex: {}\n\tAuto-negotiation: "
                  "off\n\tPort: Other\n\tLink detected: {}\n",
                  name, up ? fmt::format("{:.0f}Mb/s", gbit * 1000) : "Unknown!",
                  up ? "Full" : "Unknown! (255)", up ? "yes" : "no");
    co_await process->say(text);
    co_return 0;
  }
  co_await process->print_error(
      "netlink error: no device matches name (offset 24)\nnetlink error: No such device\n");
  co_return 75;
}

/// Of one timer: when it fires first, and how long after its service has ended it does again.
struct TimerSpans {
  std::optional<VirtualTime> first{}, again{};
};

Task<int> run_timer(ProcessPtr timer, TimerSpans spans, Arguments command) {
  for (auto next = spans.first; next; next = spans.again) {
    const bool fired = co_await timer->sleep(nap_of(timer->host.machine(), *next));
    const auto service = fired ? timer->host.fork(timer.get(), command[0]) : nullptr;
    if (!service) co_return 0;
    service->group = service->session = service->number;
    auto body = run_program(service, command, "systemd");
    timer->host.start(service, std::move(body));
    while (!service->ended() && timer->fatal() == 0) co_await timer->block();
  }
  co_return 0;
}

/// A timer alone, until the machine restarts: "systemd-run --unit=NAME --on-active=SECONDS
/// [--on-unit-inactive=SECONDS] COMMAND...".
Task<int> systemd_run(ProcessPtr process, Arguments arguments) {
  TimerSpans spans;
  std::string unit;
  std::size_t i = 1;
  for (; i < arguments.size() && arguments[i].starts_with("--"); ++i) {
    const auto equals = arguments[i].find('=');
    const auto name = arguments[i].substr(0, equals);
    const auto value = equals == std::string::npos ? "" : arguments[i].substr(equals + 1);
    if (name == "--unit") unit = value;
    if (name == "--on-active") spans.first = parse_span(value);
    if (name == "--on-unit-inactive") spans.again = parse_span(value);
  }
  if (unit.empty() || !spans.first || i == arguments.size())
    co_return co_await print_error(process, "systemd-run", "a unit, a time and a command are due");
  if (timer_of(process->host, unit + ".timer"))
    co_return co_await print_error(process, "systemd-run",
                                   "Unit " + unit + ".timer already exists.");
  const auto timer = process->host.fork(nullptr, unit + ".timer");
  if (!timer) co_return 1;
  Arguments command{arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end()};
  auto body = run_timer(timer, spans, std::move(command));
  process->host.start(timer, std::move(body));
  co_return 0;
}

constexpr auto kTools = std::to_array<Tool>({{"chronyc", chronyc},
                                             {"ethtool", ethtool},
                                             {"ip", ip},
                                             {"nv-fabricmanager", nv_fabricmanager},
                                             {"systemctl", systemctl},
                                             {"systemd-run", systemd_run}});

}  // namespace

std::span<const Tool> service_tools() { return kTools; }

}  // namespace cupel::rehearsal
