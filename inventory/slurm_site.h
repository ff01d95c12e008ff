#pragma once
// Who gives the site's nodes to jobs, and how it is asked: Slurm, Kubernetes, or each its own
// nodes. Read by read_slurm.h.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/problem.h"
#include "inventory/secret_ref.h"

namespace cupel::inventory {

/// slurmrestd, which is asked in place of scontrol.
struct SlurmRest {
  /// "https://slurm.example.com:6820", "http://127.0.0.1:6820", "unix:/run/slurmrestd.sock"; a path
  /// may follow a host, with no slash at its end.
  std::string url{};
  std::string user{};                // whom the token is for; empty: whom it names
  std::optional<SecretRef> token{};  // JWT; nothing: a Unix socket, whose owner is the user
  std::string ca{};                  // PEM file; empty: the system's authorities
};

/// A batch script of the site's, which a run submits on nodes that it has handed over (the step
/// slurm-job). It stands here and not in a playbook: no request can name another file.
struct SlurmJob {
  std::string name{};         // as a playbook says it
  std::string script{};       // absolute
  std::string results{};      // folder that this machine and the nodes share, absolute
  std::string partition{};    // empty: the site's
  std::string reservation{};  // empty: none
  Place where{};
};

/// How the site's Slurm wants its nodes.
struct SlurmSite {
  std::string partition = "gpu";
  std::vector<std::string> features{};  // set on nodes that pass
  std::string configuration{};          // SLURM_CONF; empty: the environment's
  std::optional<SlurmRest> rest{};      // nothing: scontrol is asked
  bool reservation = false;             // a node is in one of its own while it is tested
  std::vector<SlurmJob> jobs{};
  Place where{};

  /// nullptr if there is none of that name.
  const SlurmJob* job(std::string_view name) const;
};

/// How the site's Kubernetes wants its nodes.
struct KubernetesSite {
  std::string server{};  // as SlurmRest's, without Unix sockets
  SecretRef token{};     // of a service account
  std::string ca{};      // PEM file; empty: the system's authorities
  std::string label{};   // key of what is set on nodes that pass; empty: nothing is
  std::string label_value{};
  std::string taint = "cupel/not-qualified";  // key, with the effect NoSchedule
  std::string condition{};  // type of a node condition, "CupelQualified"; empty: none is written
  Place where{};
};

}  // namespace cupel::inventory
