#!/usr/bin/env python3
"""Writes tau2-bench's ground truths as traces that test/flow replays.

    python3 test/flow/tau2.py DIR > traces.json

DIR is a source tree of tau2-bench (github.com/sierra-research/tau2-bench, MIT), which this
repository does not hold. Needs Python 3.11 with pydantic and yaml. No model is called and
nothing is changed: each task's actions are run in the domain's own environment, so that all
results are those that an agent would see. What the customer does on his own telephone is run,
and is no call of the agent's. Nobody attacks, so there are no attacks in the traces. The
customer's words are those of the scenario that he is played by.
"""

import importlib
import importlib.abc
import importlib.machinery
import json
import sys
import tomllib
import types
import warnings


class Nothing:
    """Stands for whatever no task needs: a logger, a class, a function."""

    def __init__(self, *_, **__):
        pass

    def __call__(self, *_, **__):
        return Nothing()

    def __getattr__(self, name):
        return Nothing()


UNUSED = "addict deepdiff docstring_parser dotenv litellm loguru pandas rich tabulate tenacity toml"


class Unused(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what no task needs, whether it is installed or not, and a reader of TOML."""

    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] not in UNUSED.split():
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)

        def member(name):
            if name.startswith("__"):
                raise AttributeError(name)
            if (spec.name, name) == ("toml", "load"):
                return lambda file: tomllib.loads(file.read())
            return Nothing() if name[:1].islower() else Nothing

        module.__getattr__ = member
        return module

    def exec_module(self, module):
        pass


def said(task):
    """What the customer can say: why he calls, what he knows, what he wants."""
    told = task.user_scenario.instructions
    if isinstance(told, str):
        return told
    return "\n".join(text for text in (told.reason_for_call, told.known_info, told.task_instructions) if text)


def played(domain, task):
    """The agent's calls of a task, with what each returns."""
    env = domain.get_environment()
    if start := task.initial_state:
        env.set_state(start.initialization_data, start.initialization_actions, start.message_history or [])
    env.sync_tools()
    calls = []
    for action in task.evaluation_criteria.actions or []:
        try:
            result = env.to_json_str(env.make_tool_call(action.name, requestor=action.requestor, **action.arguments))
        except Exception as error:  # which the agent is told
            result = f"Error: {error}"
        env.sync_tools()
        if action.requestor == "assistant":
            calls.append({"tool": action.name, "args": action.arguments, "result": result, "hole": False})
    return calls


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    warnings.simplefilter("ignore")
    out, sys.stdout = sys.stdout, sys.stderr  # some of it prints
    sys.path.insert(0, sys.argv[1] + "/src")
    sys.meta_path.insert(0, Unused())
    traces = []
    for name in ("retail", "airline", "telecom"):
        domain = importlib.import_module(f"tau2.domains.{name}.environment")
        tasks = domain.get_tasks()
        failed = 0
        one = {"suite": name, "user": [], "attack": []}
        for task in tasks:
            calls = played(domain, task)
            failed += sum(call["result"].startswith("Error") for call in calls)
            one["user"].append({"id": task.id, "said": said(task), "calls": calls})
        print(f"{name}: {len(tasks)} tasks, {failed} calls fail", file=sys.stderr)
        traces.append(one)
    json.dump(traces, out, indent=1, ensure_ascii=False)


main()
