"""Reads URLs, one JSON text a line, and says where Python and curl would go for
each. One JSON line of [parser, scheme, host, port, path] each: what urlsplit reads;
to what urllib.request would connect, through http.client; what urllib3, which
requests builds on, reads, where pip brings it along; and what libcurl's own parser
reads, which is asked through its URL API as the curl tool does."""

import ctypes
import ctypes.util
import http.client
import json
import sys
import urllib.parse
import urllib.request

try:
    from pip._vendor.urllib3.util import parse_url
except ImportError:
    parse_url = None

curl = ctypes.CDLL(ctypes.util.find_library("curl"))
curl.curl_url.restype = ctypes.c_void_p
curl.curl_url_cleanup.argtypes = [ctypes.c_void_p]
curl.curl_free.argtypes = [ctypes.c_void_p]
curl.curl_url_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
curl.curl_url_get.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint]
# CURLUPART_ and CURLU_ of <curl/urlapi.h>
URL, SCHEME, HOST, PORT, PATH = 0, 1, 5, 6, 7
NON_SUPPORT_SCHEME, URLDECODE, GUESS_SCHEME = 1 << 3, 1 << 6, 1 << 9


def resolved(host):
    """The name as it is asked for: in IDNA's form, where it is not ASCII."""
    return host if host.isascii() else host.encode("idna").decode("ascii")


def urlsplit(url):
    u = urllib.parse.urlsplit(url)
    return u.scheme, resolved(u.hostname or ""), u.port or "", u.path


def urllib_request(url):
    r = urllib.request.Request(url)
    if not r.host:
        return None
    c = http.client.HTTPConnection(r.host, timeout=1)  # connects when it sends
    port = c.port if ":" in r.host.rpartition("]")[2] else ""
    return r.type, resolved(c.host), port, urllib.parse.urlsplit(r.selector).path


def urllib3(url):
    u = parse_url(url)
    return u.scheme or "", resolved((u.host or "").strip("[]")), u.port or "", u.path or ""


def libcurl(url):
    if "\0" in url:
        return None
    handle = curl.curl_url()
    try:
        if curl.curl_url_set(handle, URL, url.encode(), NON_SUPPORT_SCHEME | GUESS_SCHEME):
            return None
        parts = []
        for part in SCHEME, HOST, PORT, PATH:
            text = ctypes.c_void_p()
            if curl.curl_url_get(handle, part, ctypes.byref(text), URLDECODE if part == HOST else 0):
                parts.append("")
                continue
            parts.append(ctypes.string_at(text).decode("utf-8", "replace"))
            curl.curl_free(text)
        parts[1] = resolved(parts[1].strip("[]"))
        return parts
    finally:
        curl.curl_url_cleanup(handle)


parsers = [("python urlsplit", urlsplit), ("python urllib.request", urllib_request), ("libcurl", libcurl)]
if parse_url:
    parsers.append(("python urllib3", urllib3))

for line in sys.stdin:
    url = json.loads(line)
    seen = []
    for name, parse in parsers:
        try:
            parts = parse(url)
        except (ValueError, OSError, http.client.HTTPException, LookupError):
            continue  # a parser that refuses goes nowhere
        except Exception as e:  # urllib3's own errors
            if "urllib3" not in type(e).__module__:
                raise
            continue
        if parts:
            seen.append([name, *(str(p) for p in parts)])
    print(json.dumps(seen), flush=True)
