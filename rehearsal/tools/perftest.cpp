// perftest 6: ib_write_bw and its sisters, between two nodes or within one. Whoever is started
// without a peer waits for the other.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/physics/random.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/fault_now.h"
#include "rehearsal/tools/infiniband.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

struct Program {
  std::string_view name, title;
  bool latency;
  double share;  // of the link's rate that its messages get; microseconds more, of a latency
};

constexpr auto kPrograms = std::to_array<Program>({
    {"ib_write_bw", "RDMA_Write BW Test", false, 0.982},
    {"ib_read_bw", "RDMA_Read BW Test", false, 0.975},
    {"ib_send_bw", "Send BW Test", false, 0.978},
    {"ib_write_lat", "RDMA_Write Latency Test", true, 0},
    {"ib_read_lat", "RDMA_Read Latency Test", true, 0.85},
    {"ib_send_lat", "Send Latency Test", true, 0.12},
});

struct Request {
  std::string device = "mlx5_0", peer{}, file{}, wrong{};
  double size = 65536, seconds = 0;
  int iterations = 5000, pairs = 1, port = 18515, gid = -1;
  std::optional<int> gpu{};  // whose memory is used
  bool gigabits = false, both_ways = false, all_sizes = false, to_json = false;
};

/// Options with a value; those without are in `kFlags`.
constexpr std::string_view kValued = "dixsqDnpmtSclQuHwrA";
constexpr std::string_view kFlags = "FabRVhezNUCW";

void set(Request& request, char letter, const std::string& value) {
  if (letter == 'd') request.device = value;
  if (letter == 's') request.size = parse_size(value).value_or(request.size);
  if (letter == 'D') request.seconds = std::clamp(number<double>(value).value_or(0), 0.0, 1e6);
  if (letter == 'n')
    request.iterations = std::clamp(number<int>(value).value_or(5000), 5, 100000000);
  if (letter == 'q') request.pairs = std::clamp(number<int>(value).value_or(1), 1, 4096);
  if (letter == 'p') request.port = number<int>(value).value_or(18515);
  if (letter == 'x') request.gid = number<int>(value).value_or(-1);
}

bool set_long(Request& request, const std::string& word, std::string value) {
  constexpr std::array<std::string_view, 12> kIgnored{"--use_hugepages", "--use_cuda_dmabuf",
                                                      "--cpu_util",      "--perform_warm_up",
                                                      "--force-link",    "--mtu",
                                                      "--tclass",        "--disable_pcie_relaxed",
                                                      "--use_rocm",      "--data_validation",
                                                      "--ipv6",          "--inline_size"};
  if (word == "--report_gbits")
    request.gigabits = true;
  else if (word == "--bidirectional")
    request.both_ways = true;
  else if (word == "--all")
    request.all_sizes = true;
  else if (word == "--out_json")
    request.to_json = true;
  else if (word == "--out_json_file")
    request.file = std::move(value);
  else if (word == "--ib-dev")
    set(request, 'd', value);
  else if (word == "--size")
    set(request, 's', value);
  else if (word == "--duration")
    set(request, 'D', value);
  else if (word == "--iters")
    set(request, 'n', value);
  else if (word == "--qp")
    set(request, 'q', value);
  else if (word == "--port")
    set(request, 'p', value);
  else if (word == "--gid-index")
    set(request, 'x', value);
  else if (word == "--use_cuda")
    request.gpu = number<int>(value);
  else
    return std::ranges::find(kIgnored, word) != kIgnored.end();
  return true;
}

Request read_request(const Arguments& arguments) {
  Request request;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    if (word.size() < 2 || word[0] != '-') {
      request.peer = word;
      continue;
    }
    if (word.starts_with("--")) {
      const auto equals = word.find('=');
      const auto name = word.substr(0, equals);
      constexpr std::array<std::string_view, 9> kTakes{
          "--ib-dev", "--size",      "--duration",      "--iters",   "--qp",
          "--port",   "--gid-index", "--out_json_file", "--use_cuda"};
      std::string value = equals == word.npos ? "" : word.substr(equals + 1);
      const bool takes = std::ranges::find(kTakes, name) != kTakes.end() && equals == word.npos;
      if (takes && i + 1 < arguments.size()) value = arguments[++i];
      if (!set_long(request, name, value)) request.wrong = word;
      continue;
    }
    const char letter = word[1];
    if (kValued.contains(letter)) {
      const auto value = word.size() > 2            ? word.substr(2)
                         : i + 1 < arguments.size() ? arguments[++i]
                                                    : std::string{};
      set(request, letter, value);
    } else if (kFlags.contains(letter)) {
      request.all_sizes |= letter == 'a';
      request.both_ways |= letter == 'b';
    } else {
      request.wrong = word;
    }
  }
  return request;
}

constexpr std::string_view kRule =
    "-------------------------------------------------------------------------------------"
    "--\n";

std::string heading(const Program& program, const Request& request, const PortReading& port) {
  return std::string{kRule} +
         fmt::format(
             "                    {}\n Dual-port       : OFF\t\tDevice         : {}\n Number of "
             "qps   : {}\t\tTransport type : IB\n Connection type : RC\t\tUsing SRQ      : "
             "OFF\n PCIe relax order: ON\n TX depth        : 128\n CQ Moderation   : 1\n Mtu     "
             "        : 4096[B]\n Link type       : {}\n Max inline data : 0[B]\n rdma_cm "
             "QPs\t : OFF\n Data ex. method : Ethernet\n",
             program.title, request.device, request.pairs,
             port.link_layer == "InfiniBand" ? "IB" : "Ethernet") +
         std::string{kRule};
}

std::string address(std::string_view whose, const PortReading& port, Draw draw) {
  return fmt::format(
      " {} address: LID 0x{:02x} QPN 0x{:04x} PSN 0x{:06x} RKey 0x{:06x} VAddr "
      "0x00{:012x}\n",
      whose, port.lid, draw.of(1).bits() % 0xffff, draw.of(2).bits() % 0xffffff,
      draw.of(3).bits() % 0xffffff, 0x7f0000000000 + draw.of(4).bits() % 0xffffffff000);
}

std::vector<double> sizes_of(const Request& request) {
  if (!request.all_sizes) return {request.size};
  std::vector<double> all;
  for (double size = 2; size <= 8388608; size *= 2) all.push_back(size);
  return all;
}

/// Small messages are bound by how many a queue pair sends in a second.
double gbit_of(double link, double size, const Request& request, const Program& program) {
  constexpr double kMessages = 5.2e6;  // a second, of one queue pair
  const double most = kMessages * std::min(request.pairs, 8) * size * 8 / 1e9;
  return std::min(link * program.share, most) * (request.both_ways ? 1.96 : 1);
}

struct Sent {
  double size = 0, gbit = 0, messages = 0;  // a second
  std::int64_t iterations = 0;
};

Sent send(const Request& request, const Program& program, double link, double size) {
  Sent sent{.size = size, .gbit = gbit_of(link, size, request, program)};
  sent.messages = sent.gbit * 1e9 / 8 / size;
  sent.iterations = request.seconds > 0
                        ? static_cast<std::int64_t>(sent.messages * request.seconds)
                        : static_cast<std::int64_t>(request.iterations) * request.pairs;
  return sent;
}

std::string bandwidth_row(const Request& request, const Sent& sent) {
  const double unit = request.gigabits ? sent.gbit : sent.gbit * 1e9 / 8 / 1048576;
  const double peak = request.seconds > 0 ? 0 : unit * 1.0004;
  return fmt::format(" {:<7.0f}    {:<10}       {:<7.2f}            {:<7.2f}\t\t   {:<7.6f}\n",
                     sent.size, sent.iterations, peak, unit, sent.messages / 1e6);
}

struct Path {
  std::string node, device, other, other_device;
  double gbit = 0;
  std::size_t links = 0;
};

std::string latency_row(const Request& request, const Program& program, const Path& path,
                        double size) {
  constexpr double kEnds = 0.86, kLink = 0.13, kByte = 1 / 50e3;  // microseconds
  const auto draw = Draw{6}.of(path.node).of(path.device).of(path.other);
  const double least =
      (kEnds + kLink * static_cast<double>(path.links) + program.share + size * kByte) *
      draw.spread(0.01) * std::max(1.0, 380 / std::max(path.gbit, 1.0));
  return fmt::format(
      " {:<7.0f} {:<10}      {:<7.2f}        {:<7.2f}      {:<7.2f}  \t       {:<7.2f}     "
      "\t{:<7.2f}\t\t{:<7.2f} \t\t{:<7.2f}\n",
      size, request.iterations, least, least * 2.6, least * 1.02, least * 1.03, 0.04, least * 1.15,
      least * 1.9);
}

std::string columns(const Request& request, const Program& program) {
  if (program.latency)
    return " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
           "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n";
  const auto* unit = request.gigabits ? "Gb/sec" : "MB/sec";
  return fmt::format(" #bytes     #iterations    BW peak[{0}]    BW average[{0}]   MsgRate[Mpps]\n",
                     unit);
}

/// What both ends print of the measurement; the client alone spends the time.
std::string rows_of(const Request& request, const Program& program, const Path& path) {
  std::string text;
  const double size = program.latency && request.size == 65536 ? 2 : request.size;
  if (program.latency) return latency_row(request, program, path, size);
  for (const double each : sizes_of(request))
    text += bandwidth_row(request, send(request, program, path.gbit, each));
  return text;
}

VirtualTime span_of(const Request& request, const Program& program, const Path& path) {
  if (request.seconds > 0) return VirtualTime{request.seconds};
  if (program.latency) return VirtualTime{request.iterations * 3e-6 + 0.2};
  double seconds = 0.2;
  for (const double size : sizes_of(request)) {
    const auto sent = send(request, program, path.gbit, size);
    if (sent.messages > 0) seconds += static_cast<double>(sent.iterations) / sent.messages;
  }
  return VirtualTime{seconds};
}

void save(Process& process, const Request& request, const Program& program, const Path& path) {
  if (!request.to_json || request.file.empty() || program.latency) return;
  const auto sent = send(request, program, path.gbit, request.size);
  const json::object all{
      {"test_info", json::object{{"test", program.title}, {"Device", request.device}}},
      {"results", json::object{{"MsgSize", static_cast<std::int64_t>(sent.size)},
                               {"n_iterations", sent.iterations},
                               {"BW_peak", request.seconds > 0 ? 0.0 : sent.gbit},
                               {"BW_average", sent.gbit},
                               {"MsgRate", sent.messages / 1e6}}}};
  save_text(process, request.file, json::serialize(all) + "\n");
}

Task<int> no_device(ProcessPtr process, std::string device) {
  const auto text =
      fmt::format(" IB device {} not found\n Unable to find the Infiniband/RoCE device\n", device);
  co_await process->print_error(text);
  co_return 1;
}

Task<int> timed_out(ProcessPtr process) {
  constexpr VirtualTime kRetries{14};
  co_await process->sleep(kRetries);
  co_await process->print_error(
      " Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\nscnt=128, "
      "ccnt=0\n");
  co_return 1;
}

/// What is left where the data lies in a GPU's memory.
double share_of_gpu(const Machine& machine, const Request& request) {
  constexpr double kOverRootPort = 0.2;
  if (!request.gpu) return 1;
  const auto* slow =
      fault_now(machine, FaultKind::gpu_slow_rdma, fmt::format("gpu{}", *request.gpu));
  return slow == nullptr ? 1 : slow->amount.value_or(kOverRootPort);
}

Task<int> serve(ProcessPtr process, const Program& program, Request request) {
  auto& host = process->host;
  const auto& node = host.machine().name();
  const auto listener = host.network().listen(node, request.port, process);
  if (!listener) {
    co_await process->print_error(
        "Couldn't listen to port 18515\nUnable to open file descriptor for socket connection\n");
    co_return 1;
  }
  listener->about = request.device;
  listener->share = share_of_gpu(host.machine(), request);
  co_await process->say(
      "\n************************************\n* Waiting for client to connect... *\n"
      "************************************\n");
  while (!listener->over && !process->interrupted()) co_await process->block();
  host.network().close(listener);
  if (process->fatal() != 0) co_return 128 + process->fatal();
  const auto port = read_port(host, request.device);
  const Path path{listener->peer,
                  listener->peer_about,
                  node,
                  request.device,
                  listener->result,
                  host.machine()
                      .fabric()
                      .path(listener->peer, listener->peer_about, node, request.device)
                      .size()};
  auto text = heading(program, request, port);
  text += address("local", port, Draw{7}.of(node)) +
          address("remote", port, Draw{7}.of(listener->peer));
  text += std::string{kRule} + columns(request, program);
  if (listener->result > 0) text += rows_of(request, program, path);
  text += kRule;
  co_await process->say(text);
  co_return listener->result > 0 ? 0 : 1;
}

/// RoCE's packets go nowhere from an entry of the GID table that is empty.
bool gid_leads_somewhere(Host& host, const Request& request, const PortReading& port) {
  const bool roce = port.link_layer != "InfiniBand";
  if (!roce && request.gid < 0) return true;
  const auto path = fmt::format("/sys/class/infiniband/{}/ports/1/gids/{}", request.device,
                                request.gid < 0 ? 3 : request.gid);
  const auto entry = host.disk().find(path);
  if (!entry) return !roce;
  return entry->content().find_first_not_of("0:\n") != std::string::npos;
}

/// The ports of switches on the way. A read's data comes from the other end.
void count_data(Fabric& fabric, const Program& program, const Path& path, VirtualTime length) {
  constexpr double kBytes = 1e9 / 8;
  if (program.latency) return;
  const double bytes = path.gbit * kBytes * length.count();
  if (program.name == "ib_read_bw")
    fabric.carry(path.other, path.other_device, path.node, path.device, bytes);
  else
    fabric.carry(path.node, path.device, path.other, path.other_device, bytes);
}

Task<int> test_with(ProcessPtr process, const Program& program, Request request) {
  auto& host = process->host;
  auto& machine = host.machine();
  const bool here =
      request.peer == "localhost" || request.peer == "127.0.0.1" || request.peer == machine.name();
  const auto other = here ? std::optional{machine.name()} : host.network().node_at(request.peer);
  auto listener = other ? host.network().meet(*other, request.port) : nullptr;
  if (!listener) {
    const auto text = fmt::format(
        "Couldn't connect to {}:{}\nUnable to open file descriptor for socket "
        "connection Unable to init the socket connection\n",
        request.peer, request.port);
    co_await process->print_error(text);
    co_return 1;
  }
  listener->peer = machine.name();
  listener->peer_about = request.device;
  const auto port = read_port(host, request.device);
  auto text = heading(program, request, port);
  text += address("local", port, Draw{7}.of(machine.name())) +
          address("remote", port, Draw{7}.of(*other));
  text += std::string{kRule} + columns(request, program);
  co_await process->say(text);
  auto& fabric = machine.fabric();
  Path path{machine.name(), request.device, *other, listener->about};
  path.gbit = fabric.gbit_between(path.node, path.device, path.other, path.other_device,
                                  machine.clock().elapsed());
  path.gbit *= std::min(share_of_gpu(machine, request), listener->share);
  path.links = fabric.path(path.node, path.device, path.other, path.other_device).size();
  const bool reaches = path.gbit > 0 && gid_leads_somewhere(host, request, port);
  int status = 0;
  if (reaches) {
    const auto load = machine.physics().hold({.work = Work::cpu, .share = 0.01, .threads = 1});
    const auto length = span_of(request, program, path);
    co_await process->sleep(length);
    fabric.stream(path.node, path.device, path.other, path.other_device, length);
    count_data(fabric, program, path, length);
    text = rows_of(request, program, path) + std::string{kRule};
    if (process->fatal() == 0) co_await process->say(text);
    save(*process, request, program, path);
  } else {
    status = co_await timed_out(process);
  }
  listener->result = reaches ? path.gbit : 0;
  listener->over = true;
  listener->process->wake();
  co_return process->fatal() != 0 ? 128 + process->fatal() : status;
}

/// Of a build with CUDA and DMA-BUF: the lines that say what it can do.
std::string usage_of(const Program& program) {
  return fmt::format(
      "Usage:\n"
      "  {0}            start a server and wait for connection\n"
      "  {0} <host>     connect to server at <host>\n\n"
      "Options:\n"
      "  -d, --ib-dev=<dev>  Use IB device <dev> (default first device found)\n"
      "      --use_cuda=<cuda device id> Use CUDA specific device for GPUDirect RDMA testing\n"
      "      --use_cuda_dmabuf Use CUDA DMA-BUF for GPUDirect RDMA testing\n",
      program.name);
}

Task<int> perftest(ProcessPtr process, Arguments arguments) {
  const auto name = arguments[0].substr(arguments[0].rfind('/') + 1);
  const auto* program = std::ranges::find(kPrograms, name, &Program::name);
  if (program == kPrograms.end()) program = kPrograms.begin();
  if (std::ranges::find(arguments, "--help") != arguments.end()) {
    const auto text = usage_of(*program);
    co_await process->say(text);
    co_return 0;
  }
  const auto request = read_request(arguments);
  if (!request.wrong.empty()) {
    const auto text = fmt::format(
        "{}: unrecognized option '{}'\n Invalid Command or flag.\n Please check command line "
        "and run with --help for usage\n",
        name, request.wrong);
    co_await process->print_error(text);
    co_return 1;
  }
  const auto& adapters = process->host.machine().hardware().adapters;
  const auto found = std::ranges::find(adapters, request.device, &Adapter::name);
  if (found == adapters.end() || !found->infiniband)
    co_return co_await no_device(process, request.device);
  if (read_port(process->host, request.device).state == PortState::down) {
    const auto text = fmt::format(
        " Port number 1 state is Down\n Couldn't set the link layer\n Couldn't get context for the "
        "device\n");
    co_await process->print_error(text);
    co_return 1;
  }
  if (request.peer.empty()) co_return co_await serve(process, *program, request);
  co_return co_await test_with(process, *program, request);
}

constexpr auto kTools = std::to_array<Tool>({{"ib_write_bw", perftest},
                                             {"ib_read_bw", perftest},
                                             {"ib_send_bw", perftest},
                                             {"ib_write_lat", perftest},
                                             {"ib_read_lat", perftest},
                                             {"ib_send_lat", perftest}});

}  // namespace

std::span<const Tool> perftest_tools() { return kTools; }

}  // namespace cupel::rehearsal
