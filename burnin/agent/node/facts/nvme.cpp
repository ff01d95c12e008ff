#include "burnin/agent/node/facts/nvme.h"

#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/node/facts/sections.h"

namespace cupel::agent {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

unsigned word_at(std::string_view bytes, std::size_t at) {
  return byte_at(bytes, at) | byte_at(bytes, at + 1) << 8;
}

/// Sixteen bytes, the lowest first: more than a double holds exactly, and enough.
double wide_at(std::string_view bytes, std::size_t at) {
  double value = 0;
  for (std::size_t i = 16; i-- > 0;) value = value * 256 + byte_at(bytes, at + i);
  return value;
}

std::string text_at(std::string_view bytes, std::size_t at, std::size_t size) {
  auto text = bytes.substr(at, size);
  text = text.substr(0, text.find('\0'));
  return std::string{trimmed(text)};
}

NvmeAnswer ask(const std::string& path, unsigned char opcode, unsigned space, unsigned word10,
               std::size_t size) {
  constexpr unsigned kTimeout = 5000;  // ms
  struct stat what{};
  if (::stat(path.c_str(), &what) != 0 || !S_ISCHR(what.st_mode)) return {{}, "no such device"};
  const Descriptor device{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!device) return {{}, std::strerror(errno)};
  std::string bytes(size, '\0');
  nvme_admin_cmd command{};
  command.opcode = opcode;
  command.nsid = space;
  command.addr = reinterpret_cast<std::uintptr_t>(bytes.data());
  command.data_len = static_cast<unsigned>(size);
  command.cdw10 = word10;
  command.timeout_ms = kTimeout;
  const int status = ::ioctl(device.number(), NVME_IOCTL_ADMIN_CMD, &command);
  if (status < 0) return {{}, std::strerror(errno)};
  if (status > 0) return {{}, "NVMe status " + std::to_string(status)};
  return {std::move(bytes), {}};
}

}  // namespace

std::optional<NvmeIdentity> parse_identity(std::string_view bytes) {
  if (bytes.size() != kIdentifyBytes) return std::nullopt;
  return NvmeIdentity{.serial = text_at(bytes, 4, 20),
                      .model = text_at(bytes, 24, 40),
                      .firmware = text_at(bytes, 64, 8),
                      .capacity = wide_at(bytes, 280),
                      .warning_kelvin = word_at(bytes, 266),
                      .critical_kelvin = word_at(bytes, 268)};
}

std::optional<NvmeHealth> parse_health(std::string_view bytes) {
  constexpr double kUnit = 512'000;  // "thousands of 512 byte units"
  constexpr double kZeroCelsius = 273;
  if (bytes.size() != kHealthBytes || word_at(bytes, 1) == 0) return std::nullopt;
  return NvmeHealth{.warnings = byte_at(bytes, 0),
                    .celsius = word_at(bytes, 1) - kZeroCelsius,
                    .spare = byte_at(bytes, 3),
                    .spare_threshold = byte_at(bytes, 4),
                    .used = byte_at(bytes, 5),
                    .read_bytes = wide_at(bytes, 32) * kUnit,
                    .written_bytes = wide_at(bytes, 48) * kUnit,
                    .power_cycles = wide_at(bytes, 112),
                    .power_on_hours = wide_at(bytes, 128),
                    .unsafe_shutdowns = wide_at(bytes, 144),
                    .media_errors = wide_at(bytes, 160),
                    .error_entries = wide_at(bytes, 176)};
}

NvmeAnswer ask_identity(const std::string& device) {
  constexpr unsigned char kIdentify = 0x06;
  return ask(device, kIdentify, 0, 1 /* CNS: the controller */, kIdentifyBytes);
}

NvmeAnswer ask_health(const std::string& device) {
  constexpr unsigned char kGetLogPage = 0x02;
  constexpr unsigned kHealthLog = 0x02, kAllSpaces = 0xFFFFFFFF;
  constexpr unsigned kDwords = kHealthBytes / 4 - 1;
  return ask(device, kGetLogPage, kAllSpaces, kHealthLog | kDwords << 16, kHealthBytes);
}

namespace {

constexpr std::string_view kFolder = "/sys/class/nvme";

/// All namespaces together: /sys/block counts sectors of 512 bytes whatever the drive has.
std::optional<double> capacity_of(const Tree& tree, const std::string& name) {
  constexpr double kSector = 512;
  std::optional<double> bytes;
  const auto folder = std::string{kFolder} + "/" + name;
  for (const auto& each : tree.names(folder)) {
    if (!each.starts_with("nvme")) continue;
    const auto sectors = tree.number(folder + "/" + each + "/size");
    if (sectors && *sectors >= 0) bytes = bytes.value_or(0) + *sectors * kSector;
  }
  return bytes;
}

void add_health(const NvmeHealth& health, Report& report) {
  const auto count = [&](std::string_view key, unsigned value) {
    report.line.add(key, static_cast<std::int64_t>(value));
  };
  report.line.object("smart");
  count("warnings", health.warnings);
  report.line.add("celsius", health.celsius);
  count("spare", health.spare);
  count("spare_threshold", health.spare_threshold);
  count("used", health.used);
  report.line.add("read_bytes", health.read_bytes).add("written_bytes", health.written_bytes);
  report.line.add("power_cycles", health.power_cycles);
  report.line.add("power_on_hours", health.power_on_hours);
  report.line.add("unsafe_shutdowns", health.unsafe_shutdowns);
  report.line.add("media_errors", health.media_errors);
  report.line.add("error_entries", health.error_entries).end();
}

/// Opens the drive's object.
void add_files(const Tree& tree, const std::string& name, Report& report) {
  const auto folder = std::string{kFolder} + "/" + name;
  report.line.object().add("name", std::string_view{name});
  report.add("model", tree.text(folder + "/model"));
  report.add("serial", tree.text(folder + "/serial"));
  report.add("firmware", tree.text(folder + "/firmware_rev"));
  report.add("state", tree.text(folder + "/state"));
  report.add("bytes", capacity_of(tree, name));
  report.add("pcie_width", tree.number(folder + "/device/current_link_width"));
  report.add("pci", pci_address_of(tree, folder + "/device"));
}

/// What the drive itself answers.
void add_answers(const Tree& tree, const std::string& name, Report& report) {
  const auto device = tree.real("/dev/" + name);
  const auto identity = ask_identity(device);
  if (const auto reported = parse_identity(identity.bytes)) {
    report.line.object("identify").add("serial", std::string_view{reported->serial});
    report.line.add("model", std::string_view{reported->model});
    report.line.add("firmware", std::string_view{reported->firmware});
    if (reported->capacity > 0) report.line.add("bytes", reported->capacity);
    report.line.add("warning_kelvin", static_cast<std::int64_t>(reported->warning_kelvin));
    report.line.add("critical_kelvin", static_cast<std::int64_t>(reported->critical_kelvin)).end();
  } else {
    report.unknown("identify of " + name, device, identity.why);
  }
  const auto health = ask_health(device);
  if (const auto reported = parse_health(health.bytes))
    add_health(*reported, report);
  else
    report.unknown("SMART of " + name, device,
                   health.why.empty() ? "the drive answers with zeros" : health.why);
}

using AddAnswers = void (*)(const Tree& tree, const std::string& name, Report& report);

/// `answers`: nullptr: of files alone.
void add_drives(const Tree& tree, AddAnswers answers, Report& report) {
  constexpr std::size_t kMostDrives = 128;
  const auto drives = tree.names(kFolder);
  report.line.array("nvme");
  for (std::size_t i = 0; i < std::min(drives.size(), kMostDrives); ++i) {
    add_files(tree, drives[i], report);
    if (answers != nullptr) answers(tree, drives[i], report);
    report.line.end();
  }
  report.line.end();
}

}  // namespace

void add_nvme(const Tree& tree, Report& report) { add_drives(tree, add_answers, report); }

void add_nvme_files(const Tree& tree, Report& report) { add_drives(tree, nullptr, report); }

}  // namespace cupel::agent
