// An editor (python's jsonschema and yaml stand for it) and the parser must agree on what a
// playbook looks like.
#include "playbooks/schema.h"

#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "burnin/stage.h"
#include "inventory/shipped.h"
#include "tests/playbooks/read.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"

namespace cupel::playbooks {
namespace {
using ::testing::HasSubstr;
using ::testing::StartsWith;

bool python_is_there() {
  return testing::run({"python3", "-c", "import yaml, jsonschema"}).status == 0;
}

/// What the schema says of each text: "good", or "bad: ...".
std::vector<std::string> judged(const std::vector<std::string>& texts) {
  const Folder folder;
  std::vector<std::string> argv{
      "python3", SOURCE_DIR "/tests/playbooks/agree.py",
      folder.write("schema.json", boost::json::serialize(playbook_schema()))};
  for (std::size_t i = 0; i < texts.size(); ++i)
    argv.push_back(folder.write(std::to_string(i) + ".yaml", texts[i]));
  const auto ran = testing::run(argv);
  EXPECT_EQ(ran.status, 0) << ran.err;
  std::vector<std::string> verdicts;
  for (const auto line : lines(ran.out)) verdicts.emplace_back(line);
  verdicts.resize(texts.size());
  return verdicts;
}

std::string with_step(std::string_view step) {
  return "playbook: p\nparameters: {x: {default: 5m}}\nlimits: {a: 1}\nsteps:\n"
         "  - {step: ssh-wait, deadline: \"${x}\"}\n  - " +
         std::string{step} + "\n";
}

TEST(Schema, TakesEveryShippedPlaybook) {
  CUPEL_NEEDS_REAL_PART(python_is_there(), "needs python3 with python3-yaml, python3-jsonschema");
  std::vector<std::string> texts;
  for (const auto& file : inventory::shipped_files())
    if (file.path.starts_with("playbooks/")) texts.emplace_back(file.text);
  ASSERT_GE(texts.size(), 4);

  const auto verdicts = judged(texts);

  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(verdicts[i], "good") << texts[i];
    EXPECT_TRUE(read(texts[i]).playbook) << read(texts[i]).reported();
  }
}

TEST(Schema, TakesWhatTheParserTakes) {
  CUPEL_NEEDS_REAL_PART(python_is_there(), "needs python3 with python3-yaml, python3-jsonschema");
  const std::vector<std::string> texts{
      with_step("{stage: disk, foreach: [a, b], with: {directory: \"/${each}\"}}"),
      with_step("{stage: disk, foreach: {part: nvme}, max_attempts: 3, on_failure: continue}"),
      with_step("{stage: cpu-memory, with: {duration: 1h30m, memory: 32MiB}, group_by: rack}"),
      with_step("{stage: cpu-memory, with: {duration: \"${x}\", memory: 90%}}"),
      with_step("{step: boot-once, with: {target: http}, max_attempts: \"3\"}"),
      with_step("{step: power-on, claims: [{resource: a, scope: rack}], stop_after: {share: 0.5}}"),
      with_step("{step: approval, with: {message: 5}, deadline: 7d}"),
      with_step("{stage: disk, when: {profile: [p, q], rack: {not: r}, parameter: {x: 5m}}}"),
      "playbook: p\nsteps: [{include: audit, when: {profile: dgx-h100}}]\n",
  };

  const auto verdicts = judged(texts);

  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(verdicts[i], "good") << texts[i];
    EXPECT_TRUE(read(texts[i]).playbook) << texts[i] << read(texts[i]).reported();
  }
}

TEST(Schema, RefusesWhatTheParserRefuses) {
  CUPEL_NEEDS_REAL_PART(python_is_there(), "needs python3 with python3-yaml, python3-jsonschema");
  const std::vector<std::string> texts{
      "[]\n",
      "playbook: p\n",
      "playbook: p\nsteps: []\n",
      "playbook: p\nsteps: [5]\n",
      "playbook: p\nsteps: [{step: verdict}]\nstpes: 1\n",
      "playbook: p\nmax_parallel: many\nsteps: [{step: verdict}]\n",
      "playbook: p\ncanary: [0]\nsteps: [{step: verdict}]\n",
      "playbook: p\npriority: 1.5\nsteps: [{step: verdict}]\n",
      "playbook: p\nlimits: {a b: 1}\nsteps: [{step: verdict}]\n",
      "playbook: p\nparameters: {x: {type: colour}}\nsteps: [{step: verdict}]\n",
      with_step("{step: power-onn}"),
      with_step("{step: disk}"),
      with_step("{stage: power-on}"),
      with_step("{step: verdict, stage: disk}"),
      with_step("{with: {a: 1}}"),
      with_step("{stage: disk, with: {folder: /tmp}}"),
      with_step("{stage: disk, with: {runtime: 5 minutes}}"),
      with_step("{stage: disk, with: {size: big}}"),
      with_step("{stage: disk, with: {directory: tmp}}"),
      with_step("{stage: gpu-facts, with: {anything: 1}}"),
      with_step("{step: boot-once, with: {target: floppy}}"),
      with_step("{step: approval}"),
      with_step("{step: approval, with: {}}"),
      with_step("{stage: disk, max_attempts: 0}"),
      with_step("{stage: disk, deadline: soon}"),
      with_step("{stage: disk, on_failure: contniue}"),
      with_step("{stage: disk, group_by: pair}"),
      with_step("{stage: disk, stop_after: {failures: 0}}"),
      with_step("{stage: disk, stop_after: {share: 1.5}}"),
      with_step("{stage: disk, claims: [{scope: rack}]}"),
      with_step("{stage: disk, claims: [{resource: a, scope: world}]}"),
      with_step("{stage: disk, foreach: {part: gears}}"),
      with_step("{stage: disk, foreach: []}"),
      with_step("{stage: disk, as: a/b}"),
      with_step("{stage: disk, when: {profil: p}}"),
      with_step("{stage: disk, when: {profile: {at_least: 3}}}"),
      with_step("{stage: disk, when: {measure: {gpu.count: {more: 3}}}}"),
      with_step("{include: audit, max_attempts: 3}"),
      with_step("{include: [audit]}"),
  };

  const auto verdicts = judged(texts);

  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_THAT(verdicts[i], StartsWith("bad: ")) << texts[i];
    EXPECT_FALSE(read(texts[i]).playbook) << texts[i];
  }
}

TEST(Schema, TellsAnEditorWhatEachStepAndParameterIs) {
  const auto text = boost::json::serialize(playbook_schema());

  for (const auto& row : step_kinds()) EXPECT_THAT(text, HasSubstr(row.summary));
  for (const auto& stage : burnin::stages()) {
    EXPECT_THAT(text, HasSubstr(stage.summary));
    for (const auto& parameter : stage.parameters) EXPECT_THAT(text, HasSubstr(parameter.summary));
  }
}

}  // namespace
}  // namespace cupel::playbooks
