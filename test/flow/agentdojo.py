#!/usr/bin/env python3
"""Writes AgentDojo's ground truths as traces that test/flow replays.

    python3 test/flow/agentdojo.py DIR [VERSION] > traces.json

DIR is the "src" folder of a source tree of AgentDojo (github.com/ethz-spylab/agentdojo,
MIT), which this repository does not hold; VERSION is that of the benchmark, v1.2 if it
is not given. Needs Python 3.11 with pydantic and yaml. No model is called and nothing
is changed: each task's ground truth is run in the suite's own environment, so that all
results are those that an agent would see. What AgentDojo imports beside that (models,
progress bars) is replaced by nothing.
"""

import copy
import importlib.abc
import importlib.machinery
import json
import re
import sys
import types
import warnings

import pydantic

MARK = "Qx7HOLEx7Q"  # where an attacker writes


class Anything(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing

    def __or__(cls, _):
        return object

    __ror__ = __or__


class Nothing(metaclass=Anything):
    """Stands for whatever no task needs: a class, a function, a decorator, a type."""

    def __init__(self, *_, **__):
        pass

    def __call__(self, *args, **__):
        return args[0] if len(args) == 1 and callable(args[0]) else self

    def __getattr__(self, name):
        return getattr(Nothing, name)

    def __class_getitem__(cls, _):
        return cls


UNUSED = "anthropic click cohere deepdiff docstring_parser dotenv google langchain openai requests rich secagent sequrity tenacity torch transformers vertexai"


class Unused(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what no task needs, whether it is installed or not."""

    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] not in UNUSED.split():
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)

        def member(name):
            if name.startswith("__"):
                raise AttributeError(name)
            return parse if (spec.name, name) == ("docstring_parser", "parse") else Nothing

        module.__getattr__ = member
        return module

    def exec_module(self, module):
        pass


def parse(text):
    names = [line.strip()[len(":param "):].partition(":") for line in (text or "").splitlines() if line.strip().startswith(":param ")]
    params = [types.SimpleNamespace(arg_name=name.strip(), description=about.strip()) for name, _, about in names]
    return types.SimpleNamespace(short_description=(text or "").strip().split("\n")[0], long_description="", params=params, returns=None)


def played(suite, task, environment, runtime):
    """The calls of a task, with what each returns."""
    from agentdojo.agent_pipeline.tool_execution import tool_result_to_str

    calls = []
    try:
        truth = task.ground_truth(copy.deepcopy(environment))
    except Exception as error:  # a ground truth that is not there
        print(f"{suite.name} {task.ID}: {error!r}", file=sys.stderr)
        return calls
    for call in truth:
        result, error = runtime.run_function(environment, call.function, call.args)
        text = error or tool_result_to_str(result)
        calls.append({
            "tool": call.function,
            "args": json.loads(json.dumps(dict(call.args), default=str).replace(MARK, "")),
            "result": text.replace(MARK, ""),
            "hole": MARK in text,
        })
    return calls


def written(goal):
    """The call of a goal without a ground truth that says to whom a mail goes: ours."""
    to = re.findall(r"[\w.-]+@[\w.-]+\w", goal)
    args = {"recipients": to[:1], "subject": "Mails", "body": "The contents"}
    return [{"tool": "send_email", "args": args, "result": "", "hole": False}] if to else []


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    version = sys.argv[2] if len(sys.argv) == 3 else "v1.2"
    warnings.simplefilter("ignore")
    out, sys.stdout = sys.stdout, sys.stderr  # some of it prints
    pydantic.EmailStr = str
    sys.path.insert(0, sys.argv[1])
    sys.meta_path.insert(0, Unused())
    from agentdojo.functions_runtime import FunctionsRuntime
    from agentdojo.task_suite.load_suites import get_suites

    traces = []
    for name, suite in get_suites(version).items():
        holes = {vector: default + MARK for vector, default in suite.get_injection_vector_defaults().items()}
        runtime = FunctionsRuntime(suite.tools)
        one = {"suite": name, "user": [], "attack": []}
        for kind, tasks in (("user", suite.user_tasks), ("attack", suite.injection_tasks)):
            for task in tasks.values():
                environment = suite.load_and_inject_default_environment(holes)
                if kind == "user":
                    environment = task.init_environment(environment)
                said = task.PROMPT if kind == "user" else task.GOAL
                calls = played(suite, task, environment, runtime)
                if kind == "attack" and not calls:
                    calls = written(said)
                one[kind].append({"id": task.ID, "said": said, "calls": calls})
        traces.append(one)
    json.dump(traces, out, indent=1, ensure_ascii=False)


main()
