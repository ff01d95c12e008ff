#include "rehearsal/netboot/ram_system.h"

#include <fmt/format.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "base/try.h"

namespace cupel::rehearsal {
namespace {

constexpr std::size_t kLargestProgram = 256u << 20, kLargestImage = 64ul << 30,
                      kLargestAnswer = 1u << 20;
constexpr double kWrite = 2e9;  // bytes a second that a drive takes
constexpr std::array kSeedFiles{"meta-data", "user-data", "network-config"};

bool is_token(std::string_view text) {
  constexpr std::size_t kToken = 32;
  return text.size() >= kToken &&
         text.substr(0, kToken).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// "http://127.0.0.1:8080/boot/TOKEN/" of an URL that begins so.
std::optional<std::string> base_of(std::string_view url) {
  constexpr std::string_view kBoot = "/boot/";
  const auto at = url.find(kBoot);
  if (at == url.npos || !is_token(url.substr(at + kBoot.size()))) return std::nullopt;
  auto base = std::string{url.substr(0, at + kBoot.size() + 32)} + "/";
  return loopback_uri(base) ? std::optional{base} : std::nullopt;
}

json::object disk_line(const Drive& drive, std::span<const Fault> faults) {
  json::array holds;
  if (find_fault(faults, FaultKind::nvme_not_empty, drive.name)) holds.emplace_back("ext4");
  return {{"name", drive.name},
          {"serial", drive.serial},
          {"wwn", ""},
          {"model", drive.model},
          {"size", static_cast<std::uint64_t>(drive.bytes)},
          {"read_only", false},
          {"removable", false},
          {"usb", false},
          {"holds", std::move(holds)},
          {"used_by", json::array{}}};
}

/// The one that the order means, and no other. `cause`: why there is none.
Result<Drive> drive_for(const Hardware& hardware, const json::object& order, std::string& cause) {
  const json::value root = order;
  const auto serial = text_at(root, "disk/serial").value_or("");
  const auto wwn = text_at(root, "disk/wwn").value_or("");  // a virtual drive has none
  const auto model = text_at(root, "disk/model").value_or("");
  const auto least = number_at(root, "disk/size_min").value_or(0);
  const auto most = number_at(root, "disk/size_max").value_or(HUGE_VAL);
  std::vector<Drive> found;
  for (const auto& drive : hardware.drives)
    if (wwn.empty() && (serial.empty() || drive.serial == serial) &&
        (model.empty() || drive.model == model) && drive.bytes >= least && drive.bytes <= most &&
        !drive.broken)
      found.push_back(drive);
  cause = found.empty() ? "disk-missing" : "disk-ambiguous";
  if (found.size() == 1) return found.front();
  return Error{Code::kFailed, fmt::format("serial '{}', WWN '{}', model '{}': {} such disks",
                                          serial, wwn, model, found.size())};
}

}  // namespace

/// One boot: from the URL to the restart.
struct RamSystem::Boot {
  /// What the boot server is given. `why`: a cause of docs/do/os.md's table.
  Error fails(std::string why, std::string text) {
    cause = std::move(why);
    return {Code::kFailed, std::move(text)};
  }
  std::string cause = "failed";
  std::string base{};
  std::string ticket_from{};
  std::map<std::string, std::string> seed{};
  asio::cancellation_signal end{};
};

RamSystem::RamSystem(asio::any_io_executor executor, Host& host, Keys keys)
    : executor_{std::move(executor)}, host_{host}, keys_{std::move(keys)} {
  auto& machine = host_.machine();
  machine.boots_image = [this](const std::string& image) { return boots(image); };
  machine.subscribe([this](Machine::Event event) {
    const bool gone = event == Machine::Event::started ||
                      (event == Machine::Event::powered && host_.machine().power() != Power::on);
    if (gone) stop();
  });
}

void RamSystem::stop() {
  const auto boot = std::exchange(boot_, nullptr);
  if (boot) boot->end.emit(asio::cancellation_type::terminal);
}

bool RamSystem::boots(const std::string& image) {
  if (!base_of(image)) return false;
  stop();
  boot_ = std::make_shared<Boot>();
  auto slot = boot_->end.slot();
  asio::co_spawn(executor_, run(boot_, image),
                 asio::bind_cancellation_slot(slot, [](const std::exception_ptr&) {}));
  return true;
}

bool RamSystem::has(FaultKind kind) const {
  return find_fault(host_.machine().faults(), kind) != nullptr;
}

Task<void> RamSystem::run(std::shared_ptr<Boot> boot, std::string image) {
  const auto done = co_await act(*boot, std::move(image));
  if (done || boot != boot_ || boot->base.empty()) co_return;
  // The RAM system stays up, as a real one does; its console and the boot server hear why.
  host_.machine().print(fmt::format("CUPEL failed {}: {}", boot->cause, done.error().what));
  json::object body{{"cause", boot->cause}, {"text", done.error().what}};
  (void)co_await post(*boot, "failed", std::move(body));
}

Task<Result<HttpReply>> RamSystem::ask(Boot& boot, std::string method, std::string name,
                                       std::string body, HttpSink sink) {
  const auto uri = loopback_uri(boot.base + name);
  if (!uri) co_return Error{Code::kInvalid, boot.base + name + ": no address of this machine"};
  HttpAsk asked{.uri = *uri,
                .method = std::move(method),
                .body = std::move(body),
                .from = host_.address(),
                .agent = "virtual-machine"};
  const auto limit = sink ? kLargestImage : kLargestAnswer;
  co_return co_await ask_http(std::move(asked), limit, std::move(sink));
}

Task<Result<void>> RamSystem::post(Boot& boot, std::string name, json::object body) {
  auto text = json::serialize(body);
  CO_TRY(const auto reply, co_await ask(boot, "POST", name, std::move(text)));
  if (reply.status < 300) co_return ok();
  co_return Error{Code::kFailed, fmt::format("{}: HTTP {}", name, reply.status)};
}

std::optional<std::string> RamSystem::ticket_in(std::string_view image) {
  constexpr std::size_t kLongest = 512;
  for (const std::string_view before : {"cupel.boot=", R"({"boot":")"}) {
    const auto at = image.find(before);
    if (at == image.npos) continue;
    const auto rest = image.substr(at + before.size(), kLongest);
    return base_of(rest.substr(0, rest.find_first_of(" \"\n")));
  }
  return std::nullopt;
}

/// The image is fetched from the URL that the firmware or the BMC has; where its own ticket leads
/// to is what it says itself.
Task<Result<std::string>> RamSystem::find_ticket(Boot& boot, std::string image) {
  const auto uri = loopback_uri(image);
  if (!uri) co_return Error{Code::kInvalid, "no address of this machine"};
  std::string bytes;
  HttpAsk asked{.uri = *uri, .from = host_.address(), .agent = "virtual-firmware"};
  HttpSink sink = [&bytes](std::string_view piece) { bytes += piece; };
  CO_TRY(const auto reply, co_await ask_http(std::move(asked), kLargestProgram, std::move(sink)));
  if (reply.status != 200) co_return Error{Code::kFailed, fmt::format("HTTP {}", reply.status)};
  boot.ticket_from = bytes.contains("cupel.boot=") ? "cmdline" : "media";
  auto base = ticket_in(bytes);
  if (!base) co_return Error{Code::kFailed, "it names no boot server"};
  co_return *std::move(base);
}

Task<Result<void>> RamSystem::act(Boot& boot, std::string image) {
  CO_TRY(auto base, co_await find_ticket(boot, std::move(image)));
  auto& machine = host_.machine();
  if (has(FaultKind::boot_file_refused)) {
    machine.refuse_image();
    co_return Error{Code::kFailed, "the firmware did not start it"};
  }
  if (has(FaultKind::dhcp_silent)) {
    machine.print("CUPEL no address by DHCP yet: eno1 up");
    co_return Error{Code::kFailed, "it has no address"};
  }
  boot.base = std::move(base);
  auto words = json::serialize(hello(boot.ticket_from));
  CO_TRY(const auto reply, co_await ask(boot, "POST", "hello", std::move(words)));
  if (reply.status != 200) {
    boot.base.clear();  // nobody listens to it there
    co_return Error{Code::kFailed, "refused"};
  }
  CO_TRY(const auto order, parse_json(reply.body));
  if (!order.is_object()) co_return boot.fails("order", "the order is no object");
  if (text_at(order, "action") == "deploy") co_return co_await deploy(boot, order.as_object());
  machine.come_up_from_image();
  co_return ok();
}

/// Which machine it is: with crossed BMCs the one that holds the ticket is not the one that it is
/// for.
json::object RamSystem::identity() const {
  const auto& machine = host_.machine();
  const auto* crossed = find_fault(machine.faults(), FaultKind::bmc_crossed);
  const auto hardware = crossed == nullptr
                            ? machine.hardware()
                            : make_hardware(machine.profile(), crossed->other, machine.seed(), {});
  json::array macs;
  for (const auto& adapter : hardware.adapters)
    if (!adapter.infiniband) macs.emplace_back(adapter.mac);
  return {{"serial", crossed == nullptr ? smbios_serial(machine) : hardware.serial},
          {"uuid", hardware.uuid},
          {"macs", std::move(macs)}};
}

json::object RamSystem::hello(const std::string& ticket_from) const {
  const auto& machine = host_.machine();
  json::array disks;
  for (const auto& drive : machine.hardware().drives)
    disks.push_back(disk_line(drive, machine.faults()));
  auto words = identity();
  for (auto& [name, value] :
       json::object{{"version", 1},
                    {"arch", has(FaultKind::wrong_arch) ? "aarch64" : "x86_64"},
                    {"uefi", true},
                    {"secure_boot", false},
                    {"ticket_from", ticket_from},
                    {"tpm_ek", ""},
                    {"ssh_host_keys", json::array{keys_.ram}},
                    {"disks", std::move(disks)}})
    words[name] = std::move(value);
  return words;
}

Task<Result<void>> RamSystem::deploy(Boot& boot, json::object order) {
  const json::value root = order;
  const auto& machine = host_.machine();
  CO_TRY(const auto drive, drive_for(machine.hardware(), order, boot.cause));
  const bool wiped = text_at(root, "wipe") == drive.serial;
  if (find_fault(machine.faults(), FaultKind::nvme_not_empty, drive.name) && !wiped)
    co_return boot.fails("disk-not-empty", drive.serial + " holds ext4");
  const auto* image = cupel::find(root, "image");
  if (image == nullptr || !image->is_object()) co_return boot.fails("order", "it names no image");
  const auto content = number_at(*image, "content_size").value_or(0);
  if (content > drive.bytes) co_return boot.fails("image-too-large", "it is larger than the disk");
  CO_TRY(const auto digest, co_await write(boot, image->as_object()));
  if (flag_at(root, "seed") == true) {
    CO_TRY(co_await fetch_seed(boot));
  }
  if (has(FaultKind::nvram_full)) co_return boot.fails("nvram-full", "no space left on device");
  json::object done{{"disk", disk_line(drive, machine.faults())},
                    {"sha256", digest},
                    {"entry", "Boot0006"},
                    {"boot_order", json::array{"0006", "0001"}},
                    {"seconds", json::object{}}};
  CO_TRY(co_await post(boot, "done", std::move(done)));
  install(boot);
  co_return ok();
}

/// Whoever restarts the machine ends this boot.
void RamSystem::install(Boot& boot) {
  auto& host = host_;
  if (!has(FaultKind::old_system_first)) host.install(std::move(boot.seed), keys_.installed);
  host.machine().press(Reset::force_restart);
}

/// In the midst of a write; the machine comes back by itself.
bool RamSystem::loses_power() {
  const auto* fault = find_fault(host_.machine().faults(), FaultKind::write_interrupted);
  if (fault == nullptr || power_losses_ >= fault->errors.value_or(1)) return false;
  ++power_losses_;
  return host_.machine().press(Reset::power_cycle);
}

/// The stream's digest, which is the ordered one. It takes as long as a drive needs for it.
Task<Result<std::string>> RamSystem::write(Boot& boot, json::object image) {
  const json::value root = std::move(image);
  const auto file = text_at(root, "file").value_or("");
  const auto expected = text_at(root, "sha256").value_or("");
  const auto content = number_at(root, "content_size").value_or(0);
  json::object begun{{"state", "writing"}, {"bytes", 0}, {"of", content}};
  CO_TRY(co_await post(boot, "progress", std::move(begun)));
  Sha256 hash;
  const HttpSink sink = [&hash, other = has(FaultKind::image_corrupted)](auto bytes) mutable {
    if (bytes.empty() || !std::exchange(other, false)) return hash.add(bytes);
    std::string changed{bytes};
    changed.front() ^= 1;
    hash.add(changed);
  };
  CO_TRY(const auto reply, co_await ask(boot, "GET", file, {}, sink));
  if (reply.status != 200) co_return boot.fails("server", fmt::format("HTTP {}", reply.status));
  if (loses_power()) co_return Error{Code::kFailed, "its power was away"};
  auto digest = hash.hex();
  if (digest != expected)
    co_return boot.fails("wrong-hash", "its SHA-256 is " + digest + ", expected " + expected);
  asio::steady_timer writes{executor_, host_.machine().clock().real(VirtualTime{content / kWrite})};
  co_await writes.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return digest;
}

Task<Result<void>> RamSystem::fetch_seed(Boot& boot) {
  for (const std::string name : kSeedFiles) {
    CO_TRY(auto reply, co_await ask(boot, "GET", "seed/" + name, {}));
    if (reply.status == 404 && name == "network-config") continue;
    if (reply.status != 200) co_return boot.fails("seed", fmt::format("HTTP {}", reply.status));
    boot.seed[name] = std::move(reply.body);
  }
  co_return ok();
}

}  // namespace cupel::rehearsal
