#pragma once
// One real machine and what it boots from: files over HTTP and TFTP, addresses by dnsmasq.
#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/support/child.h"
#include "tests/support/qemu/efi_boot.h"
#include "tests/support/qemu/qemu_rack.h"

namespace cupel::rehearsal {

class NetbootBench : public ::testing::Test {
 protected:
  static constexpr const char* kIpxe = "/usr/lib/ipxe/snponly.efi";
  /// iPXE's first words.
  static constexpr const char* kIpxeRuns = "iPXE initialising devices";

  void TearDown() override {
    for (auto& child : children_) child->signal(SIGTERM);
  }

  /// What a test cannot go on without. A failed ASSERT would end the function that made it alone,
  /// and the test would go on with machines that are not there.
  static void require(bool done, const std::string& otherwise) {
    if (!done) throw std::runtime_error{otherwise};
  }
  static std::string url(const std::string& file) { return "http://10.77.0.1:8080/" + file; }
  std::filesystem::path served(const std::string& file) const {
    return rack->folder() / "www" / file;
  }
  void make_rack(std::vector<QemuMachine> machines) {
    rack = std::make_unique<cupel::testing::QemuRack>(std::move(machines));
    std::filesystem::create_directory(rack->folder() / "www");
  }
  void make_rack(QemuMachine machine) {
    std::vector<QemuMachine> machines;
    machines.push_back(std::move(machine));
    make_rack(std::move(machines));
  }
  void serve(const std::filesystem::path& file) {
    std::filesystem::copy_file(file, served(file.filename()));
  }
  /// Everything that is served, over HTTP.
  void start_web() {
    auto& web =
        start_child({"/usr/bin/python3", "-u", "-m", "http.server", "8080", "--bind",
                     cupel::testing::NetworkBed::kAddress, "--directory", served("").string()});
    require(web.wait_for("Serving HTTP"), "the web server of the test does not answer");
  }
  /// Addresses for known machines alone, and what else the words say.
  void start_dhcp(const std::vector<std::string>& words = {}, const std::string& interface = "br0",
                  const std::string& range = "10.77.0.0,static,255.255.255.0,5m") {
    std::vector<std::string> line{"dnsmasq",
                                  "--keep-in-foreground",
                                  "--conf-file=/dev/null",
                                  "--port=0",
                                  "--interface=" + interface,
                                  "--except-interface=lo",
                                  "--bind-interfaces",
                                  "--user=root",
                                  "--no-ping",
                                  "--log-dhcp",
                                  "--log-facility=-",
                                  "--pid-file=",
                                  "--dhcp-leasefile=" + (rack->folder() / interface).string(),
                                  "--dhcp-range=" + range};
    for (const auto& host : rack->dhcp_hosts()) line.push_back(host);
    line.insert(line.end(), words.begin(), words.end());
    require(start_child(line).wait_for("dnsmasq-dhcp"), "dnsmasq does not start");
  }
  cupel::testing::Child& start_child(std::vector<std::string> line) {
    children_.push_back(std::make_unique<cupel::testing::Child>(std::move(line)));
    return *children_.back();
  }
  void override_boot(const std::string& target, const std::string& uri = {}, int number = 1) {
    rack->on(number, [&](QemuSystem& system) {
      system.set_boot_override({.enabled = "Once", .target = target, .uri = uri});
      return true;
    });
  }

  std::unique_ptr<cupel::testing::QemuRack> rack;

 private:
  std::vector<std::unique_ptr<cupel::testing::Child>> children_;  // gone before the network is
};

}  // namespace cupel::rehearsal
