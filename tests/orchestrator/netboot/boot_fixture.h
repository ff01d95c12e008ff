#pragma once
// A boot server with one image of small files, and a node that is expected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "orchestrator/netboot/boot_service.h"
#include "tests/orchestrator/netboot/fetch.h"
#include "tests/orchestrator/netboot/small_program.h"
#include "tests/support/captures.h"

namespace cupel::netboot {

class Booting : public ::testing::Test {
 protected:
  using Kind = BootEvent::Kind;

  Booting() {
    std::filesystem::create_directories(images + "/debian-12");
    put("ram.efi", test::small_program("console=ttyS0 quiet"));
    put("vmlinuz", "kernel");
    put("initrd", "initramfs");
    std::string content;
    for (int i = 0; i < 300'000; ++i) content += static_cast<char>(i * 7 + i / 251);
    put("disk.raw.zst", content);
  }
  void put(const std::string& name, const std::string& content) const {
    std::ofstream{images + "/debian-12/" + name, std::ios::binary} << content;
  }
  std::string content_of(const std::string& name) const {
    std::ifstream file{images + "/debian-12/" + name, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  void start(BootServerOptions options = {}) {
    if (options.endpoint.port() == 0) options.endpoint = {asio::ip::make_address("127.0.0.1"), 0};
    options.folder = images;
    options.machines = {first, second};
    auto started = BootService::start(io.get_executor(), std::move(options),
                                      [this](const BootAccess& access) { log.push_back(access); });
    ASSERT_TRUE(started) << started.error().what;
    service = *std::move(started);
  }
  BootOrder order() const {
    return {.machine = first,
            .order = {{"version", 1}, {"node", first.node}, {"action", "deploy"}},
            .files = {{"ram.efi", "debian-12/ram.efi"},
                      {"vmlinuz", "debian-12/vmlinuz"},
                      {"initrd", "debian-12/initrd"},
                      {"image", images + "/debian-12/disk.raw.zst"}},
            .seed = {{"user-data", "#cloud-config\n{\"secret\":1}\n"}}};
  }
  static std::string hello(const ExpectedMachine& machine, const std::string& from = "cmdline") {
    json::array macs;
    for (const auto& mac : machine.macs) macs.emplace_back(mac);
    return json::serialize(json::object{{"version", 1},
                                        {"arch", machine.arch},
                                        {"serial", machine.serial},
                                        {"uuid", machine.uuid},
                                        {"macs", macs},
                                        {"ticket_from", from}});
  }
  test::Fetched say(const Ticket& ticket, const std::string& name, const std::string& body) {
    return test::fetch({.url = ticket.base_url + name, .post = body});
  }
  Result<BootEvent> next(const Ticket& ticket, std::chrono::milliseconds patience = kPatience) {
    return run_to_end(io, service->next(ticket.token, Deadline::in(patience)));
  }
  /// "hello", "refused swapped", "fetched image"
  std::string heard(const Ticket& ticket) {
    const auto event = next(ticket);
    if (!event) return event.error().what;
    std::string text{to_string(event->kind)};
    if (event->kind == Kind::fetched) text += " " + event->file;
    if (event->kind == Kind::refused)
      text += " " + std::string{event->body.at("cause").as_string()};
    return text;
  }

  static constexpr std::chrono::seconds kPatience{60};
  test::TemporaryFolder folder{};
  std::string images = folder.path() / "images";
  ExpectedMachine first{.node = "a01-n01",
                        .serial = "S1",
                        .uuid = "00112233-4455-6677-8899-aabbccddeeff",
                        .macs = {"52:54:00:aa:00:01"},
                        .arch = "x86_64",
                        .rack = "a01"};
  ExpectedMachine second{.node = "a01-n02",
                         .serial = "S2",
                         .macs = {"52:54:00:aa:00:02"},
                         .arch = "x86_64",
                         .rack = "a01"};
  asio::io_context io{};
  std::vector<BootAccess> log{};
  std::unique_ptr<BootService> service{};
};

}  // namespace cupel::netboot
