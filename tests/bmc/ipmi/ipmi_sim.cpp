#include "tests/bmc/ipmi/ipmi_sim.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "bmc/ipmi/bytes.h"

namespace cupel::bmc::ipmi {
namespace {

namespace fs = std::filesystem;
constexpr const char* kProgram = "/usr/bin/ipmi_sim";

std::string whole(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream{file}.rdbuf();
  return text.str();
}

std::string in_words(const Bytes& bytes) {
  std::string text;
  for (const auto each : bytes) text += " " + hex(each, 2);
  return text;
}

void put_text(Bytes& into, std::string_view text) {
  into.push_back(static_cast<std::uint8_t>(0xc0 | text.size()));
  put(into, bytes_of(text));
}

struct Analog {
  std::uint8_t number, type, unit, m;
  const char* name;
  std::uint8_t b = 0, exponents = 0;
  std::vector<std::uint8_t> upper{0, 0, 0};  // dead, critical, warn
};

Bytes record(std::uint8_t id, std::uint8_t type, const Bytes& body) {
  Bytes bytes{id, 0, 0x51, type, static_cast<std::uint8_t>(body.size())};
  put(bytes, body);
  return bytes;
}

Bytes full(std::uint8_t id, const Analog& sensor) {
  const bool limits = sensor.upper[0] != 0;
  const std::uint8_t mask = limits ? 0x38 : 0;
  Bytes body{0x20,
             0,
             sensor.number,
             7,
             1,
             0x7f,
             0x68,
             sensor.type,
             1,
             0,
             0,
             0,
             0,
             mask,
             mask,
             0,
             sensor.unit,
             0,
             0,
             sensor.m,
             0,
             sensor.b,
             0,
             0,
             sensor.exponents,
             7,
             0,
             0,
             0,
             0xff,
             0};
  put(body, sensor.upper);
  put(body, Bytes{0, 0, 0, 2, 2, 0, 0, 0});
  put_text(body, sensor.name);
  return record(id, 0x01, body);
}

Bytes power_supply_state(std::uint8_t id) {
  Bytes body{0x20, 0,    3,    10, 1, 0x7f, 0x40, 8, 0x6f, 0xff, 0x7f, 0, 0,
             0xff, 0x7f, 0xc0, 0,  0, 1,    0,    0, 0,    0,    0,    0, 0};
  put_text(body, "PSU1 Status");
  return record(id, 0x02, body);
}

Bytes locator(std::uint8_t id, std::uint8_t device, std::uint8_t entity, const char* name) {
  Bytes body{0x20, device, 0x80, 0, 0, 0x10, 0, entity, 1, 0};
  put_text(body, name);
  return record(id, 0x11, body);
}

Bytes area(Bytes start, std::initializer_list<const char*> fields) {
  for (const auto* each : fields) put_text(start, each);
  start.push_back(0xc1);
  while (start.size() % 8 != 7) start.push_back(0);
  start[1] = static_cast<std::uint8_t>((start.size() + 1) / 8);
  start.push_back(checksum(start));
  return start;
}

Bytes fru(const Bytes& board, const Bytes& product) {
  const auto behind = static_cast<std::uint8_t>(1 + board.size() / 8);
  Bytes bytes{1, 0, 0, static_cast<std::uint8_t>(board.empty() ? 0 : 1), behind, 0, 0};
  bytes.push_back(checksum(bytes));
  put(bytes, board);
  put(bytes, product);
  return bytes;
}

std::string sensor_lines(int number, int type, int reading, const char* value) {
  const auto start = "0x20 0 " + std::to_string(number);
  const std::string all = reading == 1 ? "000111111000000" : "000000000001111";
  return "sensor_add " + start + " " + std::to_string(type) + " " + std::to_string(reading) + "\n" +
         (reading == 1 ? "sensor_set_value " : "sensor_set_bit ") + start + " " + value +
         "\nsensor_set_event_support " + start + " enable " +
         (number == 5 ? "no-scanning" : "scanning") + " per-state " + all + " " + all + " " + all +
         " " + all + "\n";
}

std::string machine() {
  std::string text =
      "mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr\n"
      "sel_enable 0x20 1000 0x0a\n";
  text += sensor_lines(1, 1, 1, "0x60 0");
  text += "sensor_set_threshold 0x20 0 1 settable 111000 0xa0 0x90 0x70 0x00 0x00 0x00\n";
  text += sensor_lines(2, 4, 1, "0x50 0") + sensor_lines(3, 8, 0x6f, "0 1 0") +
          sensor_lines(4, 2, 1, "0xf4 0") + sensor_lines(5, 1, 1, "0x20 0");
  const Bytes limits{0xa0, 0x90, 0x70};
  for (const auto& each : {full(1, {1, 1, 1, 1, "CPU0 Temp", 0, 0, limits}),
                           full(2, {2, 4, 18, 100, "FAN1"}), power_supply_state(3),
                           full(4, {4, 2, 4, 5, "P12V", 1, 0xe0}), full(5, {5, 1, 1, 1, "Inlet"}),
                           locator(6, 0, 7, "Mainboard"), locator(7, 1, 10, "PSU1 FRU")})
    text += "main_sdr_add 0x20" + in_words(each) + "\n";
  const auto board =
      area({1, 0, 0, 0x10, 0x20, 0x30}, {"Acme", "Board X", "BRD-0001", "BPN-1", ""});
  const auto product = area({1, 0, 0}, {"Acme", "GPU Server 9000", "GS9000", "1.0", "SN-4711"});
  const auto psu = area({1, 0, 0}, {"Delta", "PSU 3000", "DPS-3000", "A1", "PSU-SN-1"});
  int device = 0;
  for (const auto& each : {fru(board, product), fru({}, psu)})
    text += "mc_add_fru_data 0x20 " + std::to_string(device++) + " " + std::to_string(each.size()) +
            " data" + in_words(each) + "\n";
  for (const auto* each : {"0x02 0x10 0x20 0x30 0x61 0x20 0x00 0x04 0x01 0x01 0x01 0x59 0x91 0x90",
                           "0x02 0x11 0x20 0x30 0x61 0x20 0x00 0x04 0x08 0x03 0x6f 0xa1 0x00 0x00",
                           "0xc1 0x12 0x20 0x30 0x61 0x57 0x01 0x00 0x01 0x02 0x03 0x04 0x05 0x06",
                           "0xe0 1 2 3 4 5 6 7 8 9 10 11 12 13"})
    text += "sel_add 0x20 " + std::string{each} + "\n";
  return text + "mc_enable 0x20\n";
}

std::string configuration(const fs::path& folder, std::uint16_t port, std::uint16_t console) {
  std::string text = "name \"cupel\"\nstartlan 1\n  addr 127.0.0.1 " + std::to_string(port) +
                     "\n  priv_limit admin\n";
  for (const auto* level : {"callback", "user", "operator", "admin"})
    text += std::string{"  allowed_auths_"} + level + " none md2 md5 straight\n";
  text += "  guid a123456789abcdefa123456789abcdef\nendlan\nchassis_control \"" +
          (folder / "chassis").string() + " 0x20\"\n";
  if (console != 0) text += "sol \"tcp:127.0.0.1:" + std::to_string(console) + "\" 115200\n";
  const std::string rest = " 10 none md2 md5 straight\n";
  return text + "user 1 true \"\" \"\" user" + rest + "user 2 true \"" + IpmiSim::kUser + "\" \"" +
         IpmiSim::kPassword + "\" admin" + rest + "user 3 true \"watcher\" \"look\" user" + rest;
}

std::string chassis_script(const fs::path& folder) {
  const auto at = folder.string();
  return "#!/bin/sh\nshift\necho \"$@\" >> " + at + "/calls\ncase \"$1 $2\" in\n'get power') " +
         "echo power:$(cat " + at + "/power);;\n'get boot') echo boot:none;;\n'set power') " +
         "echo $3 > " + at + "/power;;\nesac\n";
}

/// Presence pings until it answers one, or has ended; each waits for its answer, or for 100 ms.
bool answers(std::uint16_t port, testing::Child& child) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const Bytes ping{6, 0, 0xff, 6, 0, 0, 0x11, 0xbe, 0x80, 1, 0, 0};
  bool heard = false;
  for (int tries = 0; tries < 600 && !heard && !child.has_ended(); ++tries) {
    ::sendto(fd, ping.data(), ping.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
    pollfd waiting{fd, POLLIN, 0};
    heard = ::poll(&waiting, 1, 100) > 0;
  }
  ::close(fd);
  return heard;
}

}  // namespace

std::uint16_t free_udp_port() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof any;
  ::bind(fd, reinterpret_cast<sockaddr*>(&any), length);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&any), &length);
  ::close(fd);
  return ntohs(any.sin_port);
}

bool IpmiSim::installed() {
  return ::access(kProgram, X_OK) == 0 && ::access("/usr/bin/ipmitool", X_OK) == 0;
}

IpmiSim::IpmiSim(std::uint16_t console_port) {
  char name[] = "/tmp/cupel-ipmi-XXXXXX";
  folder_ = ::mkdtemp(name);
  fs::create_directory(folder_ / "state");
  std::ofstream{folder_ / "machine.emu"} << machine();
  std::ofstream{folder_ / "chassis"} << chassis_script(folder_);
  std::ofstream{folder_ / "power"} << "1\n";
  fs::permissions(folder_ / "chassis", fs::perms::owner_all);
  for (int tries = 1; port_ == 0; ++tries) {
    const auto port = free_udp_port();
    std::ofstream{folder_ / "lan.conf"} << configuration(folder_, port, console_port);
    try {
      start(port);
      port_ = port;
    } catch (const std::runtime_error&) {
      if (tries == 4) throw;  // another process may take the port first, but not four times
    }
  }
}

void IpmiSim::start(std::uint16_t port) {
  child_ = std::make_unique<testing::Child>(std::vector<std::string>{
      kProgram, "-c", (folder_ / "lan.conf").string(), "-f", (folder_ / "machine.emu").string(),
      "-s", (folder_ / "state").string(), "-n"});
  if (answers(port, *child_)) return;
  child_->signal(SIGKILL);
  const auto ran = child_->wait();
  throw std::runtime_error{"ipmi_sim does not answer: " + ran.out + ran.err};
}

void IpmiSim::stop() {
  if (!child_) return;
  child_->signal(SIGKILL);
  child_.reset();
}

IpmiSim::~IpmiSim() {
  stop();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string IpmiSim::power() const { return whole(folder_ / "power").substr(0, 1); }
std::string IpmiSim::calls() const { return whole(folder_ / "calls"); }

testing::Ran IpmiSim::ipmitool(std::vector<std::string> command,
                               const std::string& password) const {
  std::vector<std::string> argv{
      "ipmitool", "-I",  "lanplus", "-C", "3", "-H", "127.0.0.1", "-p", std::to_string(port_),
      "-U",       kUser, "-E"};
  argv.insert(argv.end(), command.begin(), command.end());
  return testing::run(argv, {"IPMI_PASSWORD=" + password}, std::chrono::seconds{30});
}

}  // namespace cupel::bmc::ipmi
