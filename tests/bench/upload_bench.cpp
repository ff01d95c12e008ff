// One image to many BMCs at once: the CPU and the memory that it takes, against `curl -F` of the
// same uploads in the same run. The BMCs are a process of their own.
//
//   upload_bench [BMCS] [MEGABYTES]
#include <fmt/format.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/digest.h"
#include "base/for_each_of.h"
#include "bmc/redfish/transport.h"
#include "tests/bench/beside.h"
#include "tests/bench/cpu_time.h"
#include "tests/support/sink_server.h"

namespace {

using namespace cupel;
namespace redfish = bmc::redfish;
using namespace std::chrono_literals;

class Keys final : public inventory::KnownKeys {
 public:
  std::optional<std::string> pinned(std::string_view name) override {
    const auto known = pins_.find(std::string{name});
    return known == pins_.end() ? std::nullopt : std::optional{known->second};
  }
  void pin(std::string_view name, std::string_view key) override { pins_[std::string{name}] = key; }

 private:
  std::map<std::string, std::string> pins_;
};

/// BMCs that take everything, in a child; ends with its parent.
class Bmcs {
 public:
  Bmcs() {
    int port[2]{}, life[2]{};
    if (::pipe(port) != 0 || ::pipe(life) != 0) std::abort();
    child_ = ::fork();
    if (child_ == 0) {
      ::close(life[1]);
      const test::SinkServer server{{.everywhere = true}};
      const auto number = server.endpoint().port;
      if (::write(port[1], &number, sizeof number) != sizeof number) std::abort();
      char none = 0;
      (void)!::read(life[0], &none, 1);
      ::_exit(0);
    }
    ::close(life[0]);
    life_ = life[1];
    if (::read(port[0], &port_, sizeof port_) != sizeof port_) std::abort();
  }
  Bmcs(const Bmcs&) = delete;
  Bmcs& operator=(const Bmcs&) = delete;
  ~Bmcs() {
    ::close(life_);
    ::waitpid(child_, nullptr, 0);
  }
  std::uint16_t port() const { return port_; }
  static std::string address(int index) { return fmt::format("127.0.1.{}", index + 1); }

 private:
  std::uint16_t port_ = 0;
  pid_t child_ = 0;
  int life_ = -1;
};

/// "VmHWM" or "VmRSS" of /proc/self/status, in MiB.
double memory(std::string_view what) {
  std::ifstream file{"/proc/self/status"};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(what)) return std::strtod(line.c_str() + what.size() + 1, nullptr) / 1024;
  return 0;
}

void forget_peak() { std::ofstream{"/proc/self/clear_refs"} << "5"; }

struct Image {
  std::filesystem::path path;
  std::uint64_t bytes;
  std::string sha256;
};

Image make_image(std::uint64_t megabytes) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("upload-{}", ::getpid());
  std::ofstream file{path, std::ios::binary};
  Sha256 sum;
  std::string piece(1u << 20, '\0');
  for (std::uint64_t i = 0; i < megabytes; ++i) {
    for (std::size_t at = 0; at < piece.size(); at += 64)
      piece[at] = static_cast<char>(i + at / 64);
    sum.add(piece);
    file << piece;
  }
  return {path, megabytes << 20, sum.hex()};
}

Task<Result<redfish::Response>> upload(redfish::Transport& transport, const Image& image,
                                       redfish::Peer peer) {
  redfish::Upload file{.file = {image.path.string(), image.bytes, image.sha256},
                       .name = "image.bin",
                       .field = "UpdateFile",
                       .fields = {{"UpdateParameters", "application/json", "{}"}}};
  return transport.upload(std::move(peer), {.method = redfish::Method::post, .path = "/upload"},
                          std::move(file), Deadline::in(60min));
}

/// Seconds of CPU.
double by_cupel(const Bmcs& bmcs, int count, const Image& image) {
  asio::io_context io{1};
  redfish::Transport transport{io.get_executor()};
  Keys keys;
  std::vector<redfish::Peer> peers;
  for (int i = 0; i < count; ++i)
    peers.push_back({.node = "n" + std::to_string(i),
                     .endpoint = {Bmcs::address(i), bmcs.port()},
                     .trust = {},
                     .known = &keys});
  malloc_trim(0);
  forget_peak();
  const double before = memory("VmRSS"), cpu = bench::cpu_seconds();
  const auto begun = Deadline::Clock::now();
  const auto one = [&](const redfish::Peer& peer) { return upload(transport, image, peer); };
  const auto answers = run_to_end(
      io, for_each_of<redfish::Response>(std::move(peers), static_cast<std::size_t>(count), one));
  const std::chrono::duration<double> wall = Deadline::Clock::now() - begun;
  for (const auto& answer : answers)
    if (!answer) fmt::print(stderr, "{}\n", answer.error().what);
  const double used = bench::cpu_seconds() - cpu;
  fmt::print("cupel: {:.2f} s of CPU, {:.1f} s, at most {:.1f} MiB more than before\n", used,
             wall.count(), memory("VmHWM") - before);
  return used;
}

/// Seconds of CPU.
double by_curl(const Bmcs& bmcs, int count, const Image& image) {
  const auto config = image.path.string() + ".curl";
  {
    std::ofstream file{config};
    for (int i = 0; i < count; ++i)
      file << (i == 0 ? "" : "next\n") << "url=https://" << Bmcs::address(i) << ":" << bmcs.port()
           << "/upload\ninsecure\nsilent\n"
           << "form=\"UpdateParameters={};type=application/json\"\n"
           << "form=\"UpdateFile=@" << image.path.string() << "\"\n";
  }
  const auto command = fmt::format(
      "curl --parallel --parallel-immediate --parallel-max {} --config {}", count, config);
  const double cpu = bench::cpu_seconds(RUSAGE_CHILDREN);
  const auto begun = Deadline::Clock::now();
  if (std::system(command.c_str()) != 0) fmt::print(stderr, "curl failed\n");
  const std::chrono::duration<double> wall = Deadline::Clock::now() - begun;
  const double used = bench::cpu_seconds(RUSAGE_CHILDREN) - cpu;
  fmt::print("curl: {:.2f} s of CPU, {:.1f} s\n", used, wall.count());
  std::filesystem::remove(config);
  return used;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 32;
  const int megabytes = argc > 2 ? std::atoi(argv[2]) : 300;
  const Bmcs bmcs;
  const auto image = make_image(static_cast<std::uint64_t>(megabytes));
  fmt::print("{} BMCs, {} MiB each\n", count, megabytes);
  const double theirs = by_curl(bmcs, count, image);
  const double ours = by_cupel(bmcs, count, image);
  bench::print_beside({.what = fmt::format("{} MiB to {} BMCs", megabytes, count),
                       .peer = "curl --parallel -F",
                       .unit = "s of CPU",
                       .ours = ours,
                       .theirs = theirs,
                       .asked = "<= 1.5"});
  std::filesystem::remove(image.path);
}
