// Any bytes as requests to the boot server: each line is the name below a ticket, a blank and the
// body of a POST; a name "seed/..." is a GET. The same bytes are a report from home, a range, a
// line of dnsmasq's log, and an EFI program and an image's manifest of the store.
#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>

#include "base/json.h"
#include "base/text.h"
#include "orchestrator/images/byte_range.h"
#include "orchestrator/images/image.h"
#include "orchestrator/netboot/dhcp_log.h"
#include "orchestrator/netboot/home_report.h"
#include "orchestrator/netboot/protocol.h"
#include "orchestrator/netboot/uki.h"
#include "orchestrator/os/reported_key.h"

namespace {

using namespace cupel;
using namespace cupel::netboot;

constexpr std::string_view kSecretSerial = "zq7-secret-serial", kSecretMac = "52:54:00:fe:dc:ba",
                           kSecretSeed = "zq7-secret-seed";
constexpr std::size_t kMostRequests = 64;

void must(bool holds) {
  if (!holds) __builtin_trap();
}

ExpectedMachine expected() {
  return {.node = "n1",
          .serial = std::string{kSecretSerial},
          .macs = {std::string{kSecretMac}},
          .arch = "x86_64"};
}

std::string text_of(const images::HttpAnswer& answer) {
  std::string text;
  for (const auto& piece : answer.body) text += piece.text;
  return text;
}

/// An answer that is not for the machine tells nothing of it.
void must_keep_secrets(const images::HttpAnswer& answer, std::string_view asked) {
  constexpr std::array kStatuses{200U, 204U, 400U, 403U, 404U, 405U, 410U, 413U, 503U};
  must(std::ranges::find(kStatuses, answer.status) != kStatuses.end());
  const auto text = text_of(answer);
  if (answer.status == 200) return;
  const auto known = lower_case(asked);
  for (const auto secret : {kSecretSerial, kSecretMac, kSecretSeed})
    must(!text.contains(secret) || known.contains(secret));
  must(text.empty() || parse_json(text).has_value());
}

class Boot {
 public:
  explicit Boot(std::string_view bytes) : bytes_{bytes} {
    BootOrder order{.machine = expected()};
    order.order = {{"version", 1}, {"action", "stay"}};
    order.seed = {{"user-data", std::string{kSecretSeed}}};
    ticket_ = std::make_shared<OpenTicket>(
        io_.get_executor(), Ticket{"t", "http://10.0.0.1/boot/t/", "http://10.0.0.1/home/t"},
        std::move(order), BootFiles{}, BootStage::issued);
  }

  void ask(std::string_view line) {
    const auto blank = std::min(line.find(' '), line.size());
    const auto name = line.substr(0, blank);
    const auto body = line.substr(std::min(blank + 1, line.size()));
    const bool reads = name.starts_with("seed/");
    const images::HttpRequest request{.method = reads ? "GET" : "POST",
                                      .target = name,
                                      .body = body,
                                      .peer = asio::ip::make_address("10.0.2.11")};
    const auto answer = name == "home" ? answer_home(ticket_, request, all_)
                                       : answer_boot(ticket_, name, request, all_);
    must_keep_secrets(answer, bytes_);
    // Nobody gets a seed before a hello was answered.
    said_hello_ = said_hello_ || (name == "hello" && answer.status == 200);
    if (reads && answer.status == 200) must(said_hello_);
    while (const auto event = ticket_->events.pop()) note(*event);
  }

 private:
  static void note(const BootEvent& event) {
    if (const auto key = os::reported_key(event.body)) must(key->starts_with("SHA256:"));
    const auto tpm = os::reported_tpm(event.body);
    must(tpm.empty() || tpm.size() == 64);
  }

  std::string_view bytes_;
  asio::io_context io_;
  std::vector<ExpectedMachine> all_{expected()};
  std::shared_ptr<OpenTicket> ticket_{};
  bool said_hello_ = false;
};

void read_identity(std::string_view text) {
  const auto report = parse_home_report(text);
  if (!report) return;
  const auto machine = parse_identity(*report);
  if (!machine) return;
  for (const auto& mac : machine->macs) must(mac.size() == 17);
  must(machine->may_be(*machine));
}

void read_files(std::string_view text) {
  if (const auto range = images::requested_range(text, 1000);
      range.answer == images::RangeAnswer::part)
    must(range.bytes.size > 0 && range.bytes.first + range.bytes.size <= 1000);
  if (const auto section = command_line_section(text, text.size()))
    must(section->offset <= text.size() && section->size <= text.size() - section->offset);
  if (const auto line = extended_command_line(text, "cupel.boot=x"))
    must(line->size() == text.size());
  if (const auto manifest = images::parse_manifest(text)) {
    const auto again = images::parse_manifest(images::manifest_text(*manifest));
    must(images::is_image_name(manifest->name) && again && *again == *manifest);
  }
}

void read_log(std::string_view text) {
  static const std::vector<DhcpNode> nodes{{"n1", {std::string{kSecretMac}}, "10.0.2.11"}};
  DhcpLog log{nodes};
  for (const auto line : lines(text))
    if (const auto event = log.read(line))
      must(event->text.find_first_of("\x1b\n\r") == event->text.npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  Boot boot{text};
  std::size_t asked = 0;
  for (const auto line : lines(text))
    if (asked++ < kMostRequests) boot.ask(line);
  read_identity(text);
  read_files(text);
  read_log(text);
  return 0;
}
