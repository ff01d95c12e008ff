#include "burnin/agent/node/boot/run_boot.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/text.h"
#include "burnin/agent/common/json_value.h"
#include "burnin/agent/common/sha256.h"
#include "burnin/agent/common/small_file.h"
#include "burnin/agent/node/boot/efi_entry.h"
#include "burnin/agent/node/boot/erase_disk.h"
#include "burnin/agent/node/boot/grow.h"
#include "burnin/agent/node/boot/hello.h"
#include "burnin/agent/node/boot/order.h"
#include "burnin/agent/node/boot/report.h"
#include "burnin/agent/node/boot/seed.h"

namespace cupel::agent::boot {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array kSeedFiles{"meta-data", "user-data", "network-config"};
constexpr const char* kRootFile = "/run/cupel/root.squashfs";

class BootRun {
 public:
  explicit BootRun(const BootInterfaces& doors) : doors_{doors}, run_{doors.server.run} {}

  Outcome<void> run() {
    const auto& url = doors_.server.url;
    TRY(const auto ticket, url.empty() ? find_ticket(doors_.tree) : ticket_of(doors_.tree, url));
    say("ticket from " + std::string{ticket.from});
    auto settings = doors_.server;
    settings.url = ticket.url;
    server_.emplace(std::move(settings));
    auto disks = read_disks(doors_.tree);
    TRY(auto order, greet(ticket, disks));
    say("order for " + order.node + ": " + (order.deploy ? "deploy" : "stay"));
    // Before anybody can log in: the controller looks whether the node has its name.
    if (!order.deploy && !order.hostname.empty()) {
      TRY(take_name(doors_.tree, order.hostname));
    }
    TRY(install_keys(doors_.tree, order.authorized_keys));
    if (!order.deploy) return stay(order);
    TRY(check_boot_entry(order));
    TRY(deploy(order, disks));
    doors_.restart();
    return {};
  }

  void report(const Failure& failure) const {
    say("failed " + std::string{to_string(failure.cause)} + ": " + printable(failure.text));
    if (!server_) return;
    const auto line = failure_line(failure).object_text();
    if (const auto reported = greeted([&] { return server_->post("failed", line); }); !reported)
      say("the boot server does not know it: " + printable(reported.error().text));
  }

 private:
  Outcome<Order> greet(const BootTicket& ticket, const std::vector<Disk>& disks) {
    auto body = hello(doors_.tree, ticket, disks, run_);
    TRY(const auto reply, server_->post("hello", body));
    if (reply.status == 200) {
      hello_ = std::move(body);
      return parse_order(reply.body);
    }
    const auto parsed = JsonValue::parse(reply.body);
    const auto* words = parsed ? parsed->find("refused") : nullptr;
    const bool reported = words != nullptr && words->text() != nullptr;
    return Failure{Cause::kRefused,
                   "the boot server refuses this machine: " +
                       (reported ? *words->text() : "HTTP " + std::to_string(reply.status))};
  }

  /// Once more after a second hello, where the boot server has none of this boot: a controller that
  /// stopped before it had written the first one down.
  Outcome<Reply> greeted(const std::function<Outcome<Reply>()>& ask) const {
    constexpr int kForbidden = 403;
    TRY(auto reply, ask());
    if (reply.status != kForbidden || hello_.empty()) return reply;
    TRY(const auto again, server_->post("hello", hello_));
    if (again.status != 200) return reply;
    return ask();
  }

  /// The large RAM system's root, where the order has one; init goes on in it.
  Outcome<void> stay(const Order& order) {
    if (!order.root) return {};
    const auto path = doors_.tree.real(kRootFile);
    const auto source = server_->image(order.root->file, order.root->size);
    std::vector<char> buffer(kMiB);
    Sha256 hash;
    const Descriptor file{
        ::open((path + ".part").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    while (file) {
      TRY(const auto got, source(buffer));
      if (got == 0) break;
      hash.update({buffer.data(), got});
      if (!write_all(file.number(), {buffer.data(), got}))
        return Failure{Cause::kOutOfMemory, path + ": " + std::strerror(errno)};
    }
    if (!file) return Failure{Cause::kFailed, path + ": " + std::strerror(errno)};
    if (const auto found = hash.hex(); found != order.root->sha256)
      return Failure{Cause::kWrongHash, "the SHA-256 of " + order.root->file + " is " + found +
                                            ", expected " + order.root->sha256};
    if (::rename((path + ".part").c_str(), path.c_str()) != 0)
      return Failure{Cause::kFailed, path + ": " + std::strerror(errno)};
    return {};
  }

  /// Without EFI variables no entry can be made. A BIOS that has a boot loader to start needs none.
  Outcome<void> check_boot_entry(Order& order) const {
    if (!order.boot_entry) return {};
    auto possible = check_efi_variables(doors_.tree);
    if (possible || !order.bios) return possible;
    say("no EFI variables: no boot entry is made, the BIOS starts the disk");
    order.boot_entry.reset();
    return {};
  }

  Outcome<void> deploy(const Order& order, const std::vector<Disk>& disks) {
    enter(Phase::kChoosing);
    TRY(const auto disk, choose_disk(disks, order.disk, order.wipe));
    say("disk " + described(disk));
    if (order.erase != Erase::kNone) {
      enter(Phase::kErasing);
      const auto reporting = repeated(Phase::kErasing);
      TRY(erase_disk(doors_.tree, disk, order.erase, order.wipe, run_));
    }
    const auto path = doors_.tree.real(disk.path());
    TRY(const auto written, write(order, path));
    EnteredOs entered;
    const auto completed = complete(order, path, written, entered);
    if (!completed) {
      auto failure = completed.error();
      if (auto half = TargetDisk::open(path); !half || !half->make_unbootable())
        failure.text += "; and " + path + " may boot as it is";
      return failure;
    }
    return report_done(disk, written, entered);
  }

  /// From the rack's mirror where there is one, and else, or where that fails, from the boot
  /// server.
  Outcome<WrittenImage> write(const Order& order, const std::string& path) {
    const auto& image = order.image;
    if (!image.mirror.empty()) {
      auto written = write_from(server_->mirrored(image.mirror, image.size), order, path);
      if (written || !may_be_the_mirrors(written.error().cause)) return written;
      mirror_failure_ = image.mirror + ": " + written.error().text;
      say("mirror failed: " + printable(mirror_failure_));
    }
    return write_from(server_->image(image.file, image.size), order, path);
  }

  /// What another source may mend; what the disk failed of is no source's.
  static bool may_be_the_mirrors(Cause cause) {
    return cause == Cause::kServer || cause == Cause::kCut || cause == Cause::kWrongHash;
  }

  Outcome<WrittenImage> write_from(const ImageSource& source, const Order& order,
                                   const std::string& path) {
    TRY(auto target, TargetDisk::open(path));
    ImageWriter writer{std::move(target), order.image, ReadBack::kSampled};
    const auto progress = paced(
        [this](Phase phase, std::uint64_t bytes, std::uint64_t of) { enter(phase, bytes, of); });
    return writer.write(source, progress);
  }

  Outcome<void> complete(const Order& order, const std::string& path, const WrittenImage& written,
                         EnteredOs& entered) {
    if (order.grow) {
      enter(Phase::kGrowing);
      const auto reporting = repeated(Phase::kGrowing);
      TRY(grow_last_partition(path, run_));
    } else if (order.seed) {
      TRY(reread_partitions(path));
    }
    if (order.seed) {
      enter(Phase::kSeeding);
      TRY(const auto seed, fetch_seed());
      TRY(seed_disk(path, seed, run_));
    }
    if (order.boot_entry) {
      enter(Phase::kBootOrder);
      TRY(entered, enter_os(doors_.tree, path, *order.boot_entry, run_));
    }
    return finish_image(path, written.unfinished_bytes);
  }

  Outcome<Seed> fetch_seed() const {
    Seed seed;
    for (const std::string name : kSeedFiles) {
      TRY(auto reply, greeted([&] { return server_->get("seed/" + name); }));
      if (reply.status == 404 && name == "network-config") continue;
      if (reply.status != 200)
        return Failure{Cause::kSeed, "seed/" + name + ": HTTP " + std::to_string(reply.status) +
                                         ". It is served once: boot again with a new ticket"};
      seed[name] = std::move(reply.body);
    }
    return seed;
  }

  Outcome<void> report_done(const Disk& disk, const WrittenImage& written,
                            const EnteredOs& entered) {
    enter_none();
    JsonLine line;
    line.object("disk");
    add_disk(line, disk);
    line.end().add("sha256", written.sha256).add("entry", entered.entry).array("boot_order");
    for (const auto& each : entered.order) line.item(each);
    line.end();
    if (!mirror_failure_.empty()) line.add("mirror_failure", mirror_failure_);
    line.array("removed_entries");
    for (const auto& each : entered.removed) line.item(each);
    line.end().object("seconds");
    for (const auto& [phase, seconds] : seconds_) line.add(phase, seconds);
    line.end();
    // The OS is whole: it starts even where nobody can be informed.
    const auto reported = greeted([&] { return server_->post("done", line.object_text()); });
    say(reported ? "done, restarting" : "done, but the boot server is away: restarting");
    return {};
  }

  void enter(Phase phase, std::uint64_t bytes = 0, std::uint64_t of = 0) {
    const std::string name{to_string(phase)};
    if (name != phase_) {
      enter_none();
      phase_ = name;
      since_ = Clock::now();
    }
    say(name + (of > 0 ? " " + std::to_string(bytes * 100 / of) + " %" : ""));
    server_->mention("progress", progress_line(phase, bytes, of).object_text());
  }
  /// The phase again and again until this ends, on a thread of its own.
  std::jthread repeated(Phase phase) const {
    return std::jthread{[this, phase](const std::stop_token& stop) {
      std::mutex mutex;
      std::condition_variable_any bell;
      std::unique_lock lock{mutex};
      const auto line = progress_line(phase, 0, 0).object_text();
      const auto over = [&] { return stop.stop_requested(); };
      while (!bell.wait_for(lock, stop, doors_.progress_every, over))
        server_->mention("progress", line);
    }};
  }
  void enter_none() {
    if (phase_.empty()) return;
    seconds_[phase_] += std::chrono::duration<double>(Clock::now() - since_).count();
    phase_.clear();
  }
  void say(const std::string& words) const { doors_.console("CUPEL " + words); }

  const BootInterfaces& doors_;
  const RunTool& run_;
  std::optional<BootServer> server_{};
  std::string hello_{};  // that was answered with the order
  std::string mirror_failure_{};
  std::string phase_{};
  Clock::time_point since_{};
  std::map<std::string, double> seconds_{};
};

}  // namespace

int run_boot(const BootInterfaces& doors) {
  BootRun boot{doors};
  const auto outcome = boot.run();
  if (outcome) return kDone;
  boot.report(outcome.error());
  return kFoundOutNothing;
}

}  // namespace cupel::agent::boot
