#include "rehearsal/tools/cupel_burn_across.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/nccl_id.h"
#include "base/text.h"
#include "rehearsal/physics/random.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/fault_now.h"
#include "rehearsal/tools/gpu_work.h"
#include "rehearsal/tools/infiniband.h"

namespace cupel::rehearsal {
namespace {

constexpr std::string_view kVersion = "2.27.7";
constexpr VirtualTime kHangAfter{60};
constexpr int kWell = 0, kUnknown = 2, kHang = 3, kStopped = 4, kUsage = 64;

std::string line_of(const json::object& object) { return json::serialize(object) + "\n"; }

std::string error_line(std::string_view code, std::string message) {
  return line_of({{"kind", "error"}, {"code", std::string{code}}, {"message", std::move(message)}});
}

/// What NCCL is given by this process, and by /etc/nccl.conf.
json::object variables_set(Process& process) {
  json::object environment, conf;
  for (const auto& [name, value] : process.environment)
    if (name.starts_with("NCCL_")) environment[name] = value;
  const auto file = process.disk().find("/etc/nccl.conf");
  const auto text = file ? file->content() : std::string{};
  for (const auto line : lines(text))
    if (const auto equals = line.find('='); equals != line.npos && !line.starts_with('#'))
      conf[trimmed(line.substr(0, equals))] = std::string{trimmed(line.substr(equals + 1))};
  return {{"environment", std::move(environment)}, {"nccl.conf", std::move(conf)}};
}

std::string start_line(std::string_view command, const std::map<std::string, std::string>& words,
                       Process& process) {
  auto parameters = variables_set(process);
  for (const auto& [name, value] : words) parameters[name.substr(2)] = value;
  return line_of({{"kind", "start"},
                  {"program", "cupel-burn"},
                  {"version", CUPEL_VERSION},
                  {"protocol", 1},
                  {"command", std::string{command}},
                  {"nccl", std::string{kVersion}},
                  {"gpus", json::array{}},
                  {"parameters", std::move(parameters)}});
}

std::string end_line(bool complete, bool stopped = false) {
  return line_of({{"kind", "end"},
                  {"seconds", 1},
                  {"faults", 0},
                  {"complete", complete},
                  {"stopped", stopped}});
}

/// Every option but --make-id has a value.
std::map<std::string, std::string> words_of(const Arguments& arguments) {
  std::map<std::string, std::string> words;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const bool is_flag = arguments[i] == "--make-id" || i + 1 == arguments.size();
    const auto& name = arguments[i];
    words[name] = is_flag ? "" : arguments[++i];
  }
  return words;
}

std::string word(const std::map<std::string, std::string>& words, const std::string& name,
                 std::string fallback = {}) {
  const auto found = words.find(name);
  return found == words.end() ? fallback : found->second;
}

double amount(const std::map<std::string, std::string>& words, const std::string& name,
              double fallback) {
  return number<double>(word(words, name)).value_or(fallback);
}

/// As NCCL makes one, of the node's address for SSH.
std::string make_id(Host& host) {
  in_addr address{};
  ::inet_pton(AF_INET, host.address().c_str(), &address);
  const auto magic =
      Draw{19}.of(host.machine().name()).of(host.network().next_meeting()).bits() | 1U;
  constexpr int kFirstPort = 32768, kPorts = 28000;
  const auto port = kFirstPort + static_cast<int>(magic % kPorts);
  return fmt::format("{:016x}0200{:04x}{:08x}{}", magic, port, ntohl(address.s_addr),
                     std::string(224, '0'));
}

std::string id_line(const NcclId& id) {
  return line_of({{"kind", "nccl-id"},
                  {"id", id.hex},
                  {"address", id.address},
                  {"port", id.port},
                  {"nccl", std::string{kVersion}}});
}

std::string out_of_reach(std::string_view id) {
  const auto decoded = decode_nccl_id(id);
  if (!decoded) return error_line("usage", decoded.error().what);
  return error_line("nccl", fmt::format("no TCP connection to {} port {}, where the ranks meet: "
                                        "Connection refused",
                                        decoded->address, decoded->port));
}

bool is_blocked(const Host& host) {
  return fault_now(host.machine(), FaultKind::ports_blocked) != nullptr;
}

/// As NCCL looks for a variable: in the environment, then in /etc/nccl.conf.
std::string variable_of(Process& process, const std::string& name) {
  const auto set = process.environment.find(name);
  if (set != process.environment.end()) return set->second;
  const auto file = process.disk().find("/etc/nccl.conf");
  if (!file) return {};
  const auto text = file->content();
  for (const auto line : lines(text))
    if (line.starts_with(name + "=")) return std::string{trimmed(line.substr(name.size() + 1))};
  return {};
}

/// NCCL_IB_HCA: "=mlx5_0,mlx5_3" are these, "mlx5" all that begin so; empty: all.
bool chooses(std::string_view setting, std::string_view hca) {
  const bool exact = setting.starts_with('=');
  if (exact) setting.remove_prefix(1);
  if (setting.empty()) return true;
  return std::ranges::any_of(split(setting, ','), [&](std::string_view name) {
    return exact ? hca == name : hca.starts_with(name);
  });
}

/// GPUs; "0-7" are eight, no words all.
std::vector<std::size_t> numbers_in(const std::string& text, std::size_t count) {
  const auto dash = text.find('-');
  const auto first = number<std::size_t>(text.substr(0, dash)).value_or(0);
  const auto last =
      dash == text.npos ? first : number<std::size_t>(text.substr(dash + 1)).value_or(0);
  std::vector<std::size_t> numbers;
  for (auto at = text.empty() ? 0 : first; at <= (text.empty() ? count - 1 : last) && at < 64; ++at)
    numbers.push_back(at);
  return numbers;
}

class Across {
 public:
  Across(ProcessPtr process, const Arguments& arguments)
      : process_{std::move(process)},
        words_{words_of(arguments)},
        trains_{arguments[1] == "train"} {
    constexpr int kTerminate = 15, kInterrupt = 2;
    process_->caught.insert({kTerminate, kInterrupt});
  }

  Task<int> run() {
    const auto started = start_line(trains_ ? "train" : "collective", words_, *process_);
    co_await process_->say(started);
    const auto error = cuda_error(process_->host);
    if (error) {
      const auto text = error_line("no-cuda-device", error->text);
      co_return co_await fail(text);
    }
    gpus_ = cuda_devices(process_->host);
    chosen_ = numbers_in(word(words_, "--gpus"), gpus_.size());
    if (chosen_.empty() || chosen_.back() >= gpus_.size()) {
      const auto text = error_line(
          "usage", fmt::format("--gpus: this node has {} GPUs that CUDA sees", gpus_.size()));
      co_return co_await fail(text);
    }
    std::string id;
    if (words_.contains("--make-id"))
      id = make_id(process_->host);
    else
      co_await process_->read_all(0, id);
    id = std::string{trimmed(id)};
    co_return co_await meet(std::move(id));
  }

 private:
  Task<int> fail(std::string text) {
    const auto whole = text + end_line(false);
    co_await process_->say(whole);
    co_return kUnknown;
  }

  Task<int> meet(std::string id) {
    auto& network = process_->host.network();
    if (words_.contains("--make-id")) {
      const auto decoded = decode_nccl_id(id);
      const auto text = id_line(*decoded);
      meeting_ = network.open_meeting(id);
      meeting_->is_reached = !is_blocked(process_->host);
      co_await process_->say(text);
    } else {
      meeting_ = network.meeting(id);
      if (!meeting_) {
        const auto text = out_of_reach(id);
        co_return co_await fail(text);
      }
    }
    const int status = co_await join();
    meeting_->is_broken |= status != kWell;
    meeting_->wake();
    if (words_.contains("--make-id")) network.close_meeting(id);
    co_return status;
  }

  Task<int> join() {
    ranks_ = static_cast<std::size_t>(amount(words_, "--ranks", 2));
    base_ = static_cast<int>(amount(words_, "--rank-base", 0));
    // The others' ranks do not get through to those behind a firewall.
    if (!is_blocked(process_->host))
      meeting_->members[base_] = {process_, process_->host.machine().name(), hcas(),
                                  chosen_.size()};
    meeting_->wake();
    const double within = amount(words_, "--join-within", 120), until = now() + within;
    while (meeting_->ranks() < ranks_ && now() < until && !process_->interrupted())
      co_await process_->block_until(VirtualTime{until});
    if (process_->interrupted()) co_return co_await stopped();
    if (meeting_->ranks() < ranks_) {
      const auto text = error_line(
          "nccl", fmt::format("ranks {} to {} of {} were here, and not all others came within {} s",
                              base_, base_ + static_cast<int>(chosen_.size()) - 1, ranks_, within));
      co_return co_await fail(text);
    }
    const auto text =
        line_of({{"kind", "joined"}, {"base", base_}, {"here", chosen_.size()}, {"of", ranks_}});
    co_await process_->say(text);
    co_return co_await work();
  }

  /// The ways of a ring, as NCCL's log has them.
  std::string transport() const {
    json::object channels, ports;
    const auto rails = hcas();
    for (std::size_t i = 0; i < rails.size(); ++i) {
      channels[fmt::format("NET/IB/{}/GDRDMA", i)] = 2;
      ports[rails[i] + ":1"] = "IB";
    }
    if (chosen_.size() > 1) channels["P2P/CUMEM"] = 2 * (chosen_.size() - 1);
    return line_of(
        {{"kind", "transport"}, {"channels", std::move(channels)}, {"ports", std::move(ports)}});
  }

  Task<int> stopped() {
    const auto text = end_line(false, true);
    co_await process_->say(text);
    co_return kStopped;
  }

  Task<int> work() {
    constexpr VirtualTime kTakes{8};
    constexpr int kMib = 4096;
    std::vector<int> places;
    for (const auto at : chosen_) places.push_back(gpus_[at].part.index);
    const auto load = trains_ ? Work::train : Work::collective;
    GpuWork work{process_, "cupel-burn", load, std::move(places), kMib};
    const double rate = rate_of_rails();
    const bool whole = co_await work.last(kTakes);
    if (!work.fallen().empty()) {
      const auto text = error_line("cuda", "cudaStreamSynchronize: cudaErrorUnknown (999)");
      co_return co_await fail(text);
    }
    if (!whole) co_return co_await stopped();
    if (rate > 0) {
      const bool all_through = co_await wait_for_others();
      if (all_through) {
        const auto text = (trains_ ? training(rate) : results(rate)) + transport() + end_line(true);
        co_await process_->say(text);
        co_return kWell;
      }
    }
    co_return co_await hang();
  }

  /// The last operation is over when all ranks have done it. False: one does not.
  Task<bool> wait_for_others() {
    for (const auto at : chosen_)
      meeting_->members[base_].own = std::max(meeting_->members[base_].own, own_step(at));
    meeting_->members[base_].is_through = true;
    meeting_->wake();
    const double until = now() + kHangAfter.count();
    while (!meeting_->is_through() && !meeting_->is_broken && now() < until &&
           !process_->interrupted())
      co_await process_->block_until(VirtualTime{until});
    co_return meeting_->is_through();
  }

  /// All wait in the same operation.
  Task<int> hang() {
    const bool slept = co_await process_->sleep(kHangAfter);
    if (!slept) co_return co_await stopped();
    json::array entered;
    for (std::size_t i = 0; i < chosen_.size(); ++i) entered.push_back(1);
    const auto text = line_of({{"kind", "hang"},
                               {"part", ""},
                               {"doing", word(words_, "--ops", "all_reduce")},
                               {"seconds", kHangAfter.count()}}) +
                      line_of({{"kind", "ranks"},
                               {"base", base_},
                               {"of", ranks_},
                               {"entered", std::move(entered)},
                               {"doing", word(words_, "--ops", "all_reduce")}}) +
                      end_line(false);
    co_await process_->say(text);
    co_return kHang;
  }

  /// Those that are up, of those that NCCL_IB_HCA chooses.
  std::vector<std::string> hcas() const {
    const auto chosen = variable_of(*process_, "NCCL_IB_HCA");
    std::vector<std::string> all;
    for (const auto& adapter : process_->host.machine().hardware().adapters) {
      if (!adapter.infiniband || !chooses(chosen, adapter.name)) continue;
      const auto port = read_port(process_->host, adapter.name);
      if (port.state == PortState::active && !port.peer.empty()) all.push_back(adapter.name);
    }
    return all;
  }

  /// GB/s of a ring through the nodes, over the rails that all of them use: each carries the same,
  /// so that the slowest link of all holds the others back. 0: there is no way.
  double rate_of_rails() const {
    constexpr double kPayload = 0.92, kBits = 8;
    const auto& members = meeting_->members;
    auto rails = members.begin()->second.hcas;
    for (const auto& [base, member] : members)
      std::erase_if(rails, [&hcas = member.hcas](const std::string& rail) {
        return std::ranges::find(hcas, rail) == hcas.end();
      });
    if (rails.empty()) return 0;
    const auto& fabric = process_->host.machine().fabric();
    const auto at = process_->host.machine().clock().elapsed();
    double least = 1e18;
    for (auto one = members.begin(); one != members.end(); ++one) {
      const auto next = std::next(one) == members.end() ? members.begin() : std::next(one);
      for (const auto& rail : rails)
        least = std::min(least,
                         fabric.gbit_between(one->second.node, rail, next->second.node, rail, at));
    }
    return least * static_cast<double>(rails.size()) * kPayload / kBits;
  }

  std::string results(double rate) const {
    constexpr double kRamp = 4e6;  // bytes at which half of the rate is reached
    std::string text;
    const double least = amount(words_, "--min", 8), most = amount(words_, "--max", 1 << 30);
    const double factor = std::max(2.0, amount(words_, "--factor", 2));
    for (const auto operation : split(word(words_, "--ops", "all_reduce"), ','))
      for (double size = least; size <= most;
           size = size < most ? std::min(size * factor, most) : most + 1)
        text += row(operation, size, std::min(rate, gpu_rate()) * size / (size + kRamp));
    return text;
  }

  double gpu_rate() const {
    double rate = 1e18;
    for (const auto at : chosen_) rate = std::min(rate, gpus_[at].model.ring_rate * speed(at));
    return chosen_.size() > 1 ? rate : 1e18;
  }

  double speed(std::size_t at) const {
    const auto work = trains_ ? Work::train : Work::collective;
    return std::max(1e-3, process_->host.machine().physics().speed(gpus_[at].part.index, work));
  }

  /// Seconds.
  double own_step(std::size_t at) const {
    constexpr double kOfAnH100 = 0.69;
    return kOfAnH100 / speed(at);
  }

  /// A step is as long as the slowest rank's part of it, and the sum of the last layer.
  std::string training(double rate) const {
    constexpr double kLayer = 4e8, kTokens = 8192;  // bytes; of a step, of each GPU
    double step = 0;
    for (const auto& [base, member] : meeting_->members) step = std::max(step, member.own);
    step += 2 * kLayer / (std::min(rate, gpu_rate()) * 1e9);
    const auto result = [](std::string_view name, std::string part, double value,
                           std::string_view unit) {
      return line_of({{"kind", "result"},
                      {"name", std::string{name}},
                      {"part", std::move(part)},
                      {"value", value},
                      {"unit", std::string{unit}},
                      {"labels", json::object{}},
                      {"count", 1},
                      {"spread", 0}});
    };
    auto text =
        result("train.loss.differs", "", 0, "count") + result("train.step", "", step, "s") +
        result("train.tokens", "", static_cast<double>(ranks_) * kTokens / step, "tokens/s");
    for (const auto at : chosen_)
      text += result("train.own", fmt::format("gpu{}", at), own_step(at), "s");
    return text;
  }

  std::string row(std::string_view operation, double bytes, double bus) const {
    const auto n = static_cast<double>(ranks_);
    const double factor = operation == "all_reduce"                              ? 2 * (n - 1) / n
                          : operation == "broadcast" || operation == "send_recv" ? 1
                                                                                 : (n - 1) / n;
    const json::object labels{{"op", std::string{operation}},
                              {"bytes", fmt::format("{:.0f}", bytes)},
                              {"ranks", fmt::format("{}", ranks_)}};
    const auto result = [&](std::string_view name, std::string part, double value,
                            std::string_view unit) {
      return line_of({{"kind", "result"},
                      {"name", std::string{name}},
                      {"part", std::move(part)},
                      {"value", value},
                      {"unit", std::string{unit}},
                      {"labels", labels},
                      {"count", 1},
                      {"spread", 0}});
    };
    auto text = result("across.time", "", bytes * factor / (bus * 1e3), "us") +
                result("across.algbw", "", bus / factor, "GB/s") +
                result("across.busbw", "", bus, "GB/s");
    for (const auto at : chosen_)
      text += result("across.own", fmt::format("gpu{}", at), 50 + bytes / 1e6 / speed(at), "us");
    return text;
  }

  double now() const { return process_->host.machine().clock().elapsed().count(); }

  ProcessPtr process_;
  std::map<std::string, std::string> words_;
  std::size_t ranks_ = 0;  // of all nodes
  int base_ = 0;
  std::vector<GpuView> gpus_{};
  std::vector<std::size_t> chosen_{};
  NcclMeetingPtr meeting_{};
  const bool trains_;  // steps of training; else collectives
};

}  // namespace

Task<int> burn_nccl_id(ProcessPtr process, Arguments arguments) {
  const auto words = words_of(arguments);
  auto text = start_line("nccl-id", words, *process);
  if (!words.contains("--id-file")) {
    const auto id = decode_nccl_id(make_id(process->host));
    text += id_line(*id) + end_line(true);
    co_await process->say(text);
    co_return kWell;
  }
  std::string id;
  co_await process->read_all(0, id);
  const bool is_reached = process->host.network().meeting(std::string{trimmed(id)}) != nullptr;
  text += is_reached ? line_of({{"kind", "nccl-reached"}}) : out_of_reach(trimmed(id));
  text += end_line(is_reached);
  co_await process->say(text);
  co_return is_reached ? kWell : decode_nccl_id(trimmed(id)) ? kUnknown : kUsage;
}

bool is_across(const Arguments& arguments) {
  return arguments.size() > 2 && (arguments[1] == "collective" || arguments[1] == "train") &&
         std::ranges::find(arguments, "--ranks") != arguments.end();
}

Task<int> burn_across(ProcessPtr process, Arguments arguments) {
  Across across{process, arguments};
  co_return co_await across.run();
}

}  // namespace cupel::rehearsal
