// The JSON Schemas of profiles and inventories, made by reading some: what a reader asks for is
// what may be written.
#include <boost/json.hpp>

#include "inventory/load.h"
#include "inventory/load_profile.h"
#include "inventory/read_shape.h"
#include "inventory/shipped.h"

namespace cupel::inventory {
namespace {

namespace json = boost::json;

constexpr std::string_view kDialect = "https://json-schema.org/draft/2020-12/schema";

/// Sections that no shipped profile has.
constexpr std::string_view kWholeProfile = R"(profile: everything
description: has each section once
units: 1
power: {idle: 100, loaded: 200}
patience: {power_on: 2m, post: 5m, bmc_restart: 5m}
slurm: {gpu_type: x, cpus: 2, memory: 1GiB}
rails: [mlx5_0]
parts: {gpu: {count: 1, model: x, size: 1GiB, size_tolerance: 0.1, pci: ["00:01.0"], slots: [x], source: x}}
firmware:
  - {component: bmc, version: "1", way: simple-update, image: {file: x.bin, sha256: 0000000000000000000000000000000000000000000000000000000000000000}}
bios: [{attribute: SMT, value: "on", source: x}]
settings: {}
os: {user_data: {}}
without: []
criteria: {node-facts: [{measure: memory.total, at_least: 1, unit: GiB, remedy: x, source: x}]}
)";

constexpr std::string_view kWholeInventory = R"(site: everything
slurm: {partition: gpu, features: [x], configuration: /etc/slurm/slurm.conf, reservation: true, rest: {url: "https://x", user: x, token: "env:X", ca: x.pem}, jobs: [{name: x, script: x.sh, results: x, partition: gpu, reservation: x}]}
kubernetes: {server: "https://x", token: "env:X", ca: x.pem, label: x=y, taint: x, condition: X}
rooms: [{name: hall, watts: 1000000}]
racks:
  - name: a01
    room: hall
    units: 52
    watts: 90000
    pdus:
      - name: p1
        watts: 90000
        breakers: [{name: b1, watts: 22000}]
        redfish: {address: 10.0.9.1, user: ops, password: "env:X", tls: {trust: first-use}}
      - {name: p2, watts: 90000, breakers: [{name: b1, watts: 22000}], redfish: {address: 10.0.9.2, user: ops, password: "env:X"}}
    os: {user_data: {}}
    kind: gb200-nvl72
    compute: {nodes: a01-n01, slots: "1", bmc: {address: 10.0.3.1, user: ops, password: "env:X", tls: {trust: first-use}, mac: "aa:bb:cc:00:11:24"}}
    switches:
      slots: "9"
      bmc: {address: 10.0.4.1, user: ops, password: "env:X", tls: {trust: first-use}, mac: "aa:bb:cc:00:11:25"}
      nvos: {address: 10.0.5.1, user: ops, password: "env:X", tls: {trust: first-use}, certificate: a.pem, key: b.pem, mac: "aa:bb:cc:00:11:26"}
    power_shelves: {address: 10.0.6.1, user: ops, password: "env:X", tls: {trust: first-use}, mac: "aa:bb:cc:00:11:27"}
    cdu: {address: 10.0.7.1, user: ops, password: "env:X", tls: {trust: first-use}, mac: "aa:bb:cc:00:11:28"}
bmc_networks: [10.0.1.0/24]
security_floor: {file: floor.yaml, policy: warn}
firmware: {manifest: images.yaml, key: site.pub, serve: "10.0.0.1:8080", tls: {certificate: a.pem, key: b.pem}}
boot:
  serve: 10.0.0.1:8081
  tls: {certificate: a.pem, key: b.pem, ca: c.pem}
  images: images
  dhcp: {mode: full, interface: eth0, range: 10.0.2.100-10.0.2.200}
  ways: [http, media]
  uplink: 10Gbit/s
  rack_uplink: 1Gbit/s
  mirrors: [{rack: a01, url: "http://10.0.2.2:8080/images"}]
  gateway: 10.0.2.1
  dns: [10.0.2.1]
fabric: {layout: rail-optimised, hcas: [mlx5_0], group: 32, spines: 16, speed: NDR, leaf: "leaf{group}-r{rail}", spine: "spine{spine}", forwarding: forwarding.txt, nccl: {interface: bond0, environment: NCCL_IB_SL=1, address: any}, ufm: {url: "https://ufm", user: admin, password: "env:X", token: "env:X", ca: ufm.pem}, switches: [{name: leaf1-r1, guid: b0cf0e0300000700, location: x}]}
groups: [{name: canary, nodes: all}]
defaults:
  profile: dgx-h100
  scheduler: slurm
  os: {user_data: {}}
  bmc: {user: admin, password: "env:X", tls: {trust: first-use}, protocol: redfish, ipmi: {port: 623, cipher: 17}, factory: {user: admin, password: "env:X"}}
  ssh: {user: root, key: agent, host_key: first-use, sudo: false}
  nvos: {user: admin, password: "env:X", tls: {trust: first-use}, certificate: a.pem, key: b.pem}
nodes:
  - name: a01-n01
    profile: dgx-h100
    rack: a01
    unit: 1
    breaker: p1/b1
    outlet: A1
    second_breaker: p2/b1
    second_outlet: B1
    serial: X
    scheduler: [slurm]
    slurm_name: n1
    kubernetes_name: n1
    host_name: any
    os: {user_data: {}}
    network:
      ports: [{name: a, mac: "aa:bb:cc:00:11:31", dhcp4: yes, dhcp6: yes, addresses: [10.0.4.1/24], mtu: 1500, routes: [{to: default, via: 10.0.4.254}], dns: [10.0.4.2], search: [x]}, {name: b, mac: "aa:bb:cc:00:11:32"}]
      bonds: [{name: bond0, mode: 802.3ad, ports: [b], dhcp4: yes, dhcp6: yes, addresses: [10.0.5.1/24], mtu: 1500, routes: [{to: default, via: 10.0.5.254}], dns: [10.0.4.2], search: [x]}]
      vlans: [{name: v, id: 100, link: bond0, dhcp4: yes, dhcp6: yes, addresses: [10.0.6.1/24], mtu: 1500, routes: [{to: default, via: 10.0.6.254}], dns: [10.0.4.2], search: [x]}]
    boot: {macs: "aa:bb:cc:00:11:22", address: 10.0.2.11/24, disk: X, disk_wwn: "0x5000cca27a1b2c3d"}
    bmc: {address: 10.0.1.11, user: admin, password: "env:X", tls: {trust: first-use}, protocol: redfish, ipmi: true, mac: "aa:bb:cc:00:11:23", system: S}
    ssh: {address: 10.0.2.11, user: root, key: agent, host_key: first-use, sudo: false}
)";

/// The other way to write racks: by their names, and devices by their addresses alone.
constexpr std::string_view kRacksByName = R"(site: everything
racks:
  a01:
    room: hall
    units: 52
    watts: 90000
    os: {user_data: {}}
    pdus: [{name: p1, watts: 90000, breakers: [{name: b1, watts: 22000}], redfish: {address: 10.0.9.1, user: ops, password: "env:X", tls: {trust: first-use}}}]
    kind: gb200-nvl72
    compute: {bmc: [10.0.3.1], slots: "1", nodes: a01-n01}
    switches: {bmc: [10.0.4.1], nvos: [10.0.5.1], slots: "9"}
    power_shelves: [10.0.6.1]
    cdu: [10.0.7.1]
)";

/// Every key that anybody asks for while `text` is read.
template <class Read>
json::object shape_of(std::string_view text, const std::string& file, Read read) {
  std::vector<Problem> problems;
  ReadShape shape;
  const auto document = parse_yaml(text, file, problems);
  if (!document) return {};
  read();
  return shape.schema(*document);
}

json::object finished(json::object schema, std::string_view title) {
  json::object whole{{"$schema", kDialect}, {"title", title}};
  for (auto& [key, value] : schema) whole[key] = std::move(value);
  return whole;
}

}  // namespace

json::object profile_schema() {
  json::object schema;
  const auto add = [&](std::string_view text, const std::string& file) {
    schema = merged_schemas(std::move(schema), shape_of(text, file, [&] {
                              std::vector<Problem> problems;
                              parse_profile(text, file, ProfileSource{{}}, problems);
                            }));
  };
  add(kWholeProfile, "everything.yaml");
  for (const auto& file : shipped_files())
    if (file.path.starts_with("inventory/profiles/")) add(file.text, std::string{file.path});
  return finished(std::move(schema), "A profile of Cupel: one kind of machine");
}

json::object inventory_schema() {
  const auto shape = [](std::string_view text) {
    return shape_of(text, "everything.yaml",
                    [text] { parse_inventory(text, "everything.yaml", {}); });
  };
  return finished(merged_schemas(shape(kWholeInventory), shape(kRacksByName)),
                  "An inventory of Cupel: the machines of a site");
}

}  // namespace cupel::inventory
