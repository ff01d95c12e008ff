#pragma once
// What nvme, storage and disk print, as lines of cupel-node and as the scripts of earlier versions:
// fio's jobs in the shape of its own JSON.
#include <fmt/format.h>

#include <string>

#include "base/json.h"

namespace cupel::burnin {

inline std::string fio_text(const std::string& verify_error, bool random,
                            const std::string& drives) {
  const std::string speed =
      R"({"io_bytes": 2990538752, "bw_bytes": 2984569612, "iops": 710.5, "runtime": 1002,
     "clat_ns": {"percentile": {"99.000000": 2211840}}})";
  std::string text = "fio: a warning\n{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [\n";
  text += R"(    {"jobname": "write", "error": 0, "write": )" + speed + "},\n";
  text += R"(    {"jobname": "verify", "error": )" + verify_error +
          R"(, "total_err": 0, "read": {"io_bytes": 16777216}, "write": {"io_bytes": 16777216}},)"
          "\n";
  if (random) {
    text += R"(    {"jobname": "randread", "error": 0, "read": )" + speed + "},\n";
    text += R"(    {"jobname": "randwrite", "error": 0, "write": )" + speed + "},\n";
  }
  text += R"(    {"jobname": "read", "error": 0, "read": )" + speed + "}\n  ],\n";
  return text + "  \"disk_util\" : [" + drives + "]\n}\n";
}

/// An array of two drives, mounted at /raid.
inline std::string nvme_text(const std::string& verify_error) {
  const auto smart = [](const std::string& when, const std::string& errors) {
    std::string text;
    for (const auto* drive : {"nvme0", "nvme1"})
      text +=
          "cupel-begin: smart-" + when + " " + drive +
          "\n{\"nvme_smart_health_information_log\": {\"critical_warning\": 0, \"temperature\": "
          "41, \"available_spare\": 100, \"percentage_used\": 3, \"media_errors\": " +
          errors + "}}\ncupel-end\n";
    return text;
  };
  return "cupel-asked-bytes: 16777216\ncupel-asked-seconds: 1\n"
         "cupel-drive: nvme0 /raid\ncupel-drive: nvme1 /raid\ncupel-engine: libaio\n" +
         smart("before", "1") + "cupel-begin: fio 1 /raid 1\n" +
         fio_text(verify_error, true,
                  R"({"name": "md0", "aggr_read_ios": 7}, {"name": "nvme0n1", "read_ios": 9},)"
                  R"( {"name": "nvme1n1", "read_ios": 9})") +
         "cupel-end\n" + smart("after", "3") + "cupel-all-told\n";
}

inline std::string storage_text() {
  return "cupel-asked-bytes: 16777216\ncupel-asked-seconds: 1\ncupel-types: lustre\n"
         "cupel-mounted: lustre at /scratch\ncupel-direct: 1\ncupel-nodes: 4\n" +
         fio_text("0", false, "") + "cupel-all-told\n";
}

/// What cupel-node prints of a stage that came to its end.
inline std::string agent_text(const std::string& stage, const std::string& lines) {
  return R"({"kind":"stage","stage":")" + stage +
         R"(","protocol":1,"program":"cupel-node","version":"1"})" + "\n" + lines +
         R"({"kind":"done","status":0})" + "\n";
}

inline std::string asked_line(const std::string& name, double value) {
  return fmt::format(R"({{"kind":"asked","name":"{}","value":{}}})", name, value) + "\n";
}

inline std::string measured_line(const std::string& name, double value) {
  return fmt::format(R"({{"kind":"measured","name":"{}","part":"","value":{}}})", name, value) +
         "\n";
}

inline std::string evidence_line(const std::string& name, const std::string& out,
                                 const std::string& part = "") {
  return R"({"kind":"evidence","name":")" + name + R"(","part":")" + part +
         R"(","argv":[],"status":0,"cut":false,"late":false,"out":)" +
         json::serialize(json::value(out)) + R"(,"err":""})" + "\n";
}

/// The same of the shared file system as storage_text().
inline std::string storage_agent_text() {
  const std::string mount = R"({"kind":"note","name":"mount","text":"lustre at /scratch"})";
  return agent_text("storage", mount + "\n" + measured_line("storage.mounted", 1) +
                                   asked_line("bytes", 16777216) + asked_line("seconds", 1) +
                                   asked_line("direct", 1) + measured_line("storage.nodes", 4) +
                                   evidence_line("fio", fio_text("0", false, "")));
}

/// The same of an array of two drives as nvme_text().
inline std::string nvme_agent_text(const std::string& verify_error) {
  const auto smart = [](const std::string& when, const std::string& errors) {
    std::string text;
    for (const auto* drive : {"nvme0", "nvme1"})
      text += evidence_line(
          "smart-" + when,
          "{\"nvme_smart_health_information_log\": {\"critical_warning\": 0, \"temperature\": 41, "
          "\"available_spare\": 100, \"percentage_used\": 3, \"media_errors\": " +
              errors + "}}\n",
          drive);
    return text;
  };
  std::string text = asked_line("bytes", 16777216) + asked_line("seconds", 1);
  for (const auto* drive : {"nvme0", "nvme1"})
    text += fmt::format(R"({{"kind":"note","name":"place {}","text":"/raid"}})", drive) + "\n";
  text += asked_line("many-in-flight", 1) + smart("before", "1") +
          evidence_line("fio",
                        fio_text(verify_error, true,
                                 R"({"name": "md0", "aggr_read_ios": 7}, {"name": "nvme0n1", )"
                                 R"("read_ios": 9}, {"name": "nvme1n1", "read_ios": 9})"),
                        "/raid") +
          smart("after", "3");
  return agent_text("nvme", text);
}

}  // namespace cupel::burnin
