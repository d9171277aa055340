"""What a program inside tries, one step per line of the script on stdin; each prints one line of result."""
import errno, hashlib, json, os, socket, ssl, sys, threading, urllib.request

CERTIFICATE = os.environ["CERTIFICATE"]


def context():
    return ssl.create_default_context(cafile=CERTIFICATE if os.path.exists(CERTIFICATE) else None)


def resolve(name):
    return sorted({entry[4][0] for entry in socket.getaddrinfo(name, 443, type=socket.SOCK_STREAM)})


def get(url):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context()))
    with opener.open(url, timeout=20) as answer:
        return [answer.status, answer.read().decode()]


def tcp(host, port, text):
    with socket.create_connection((host, port), timeout=20) as stream:
        stream.sendall(text.encode())
        try:
            stream.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # It was reset in between; reading says so.
        return everything(stream).decode("latin-1")


def raw(host, port, hexed):
    with socket.create_connection((host, port), timeout=20) as stream:
        stream.sendall(bytes.fromhex(hexed))
        return everything(stream).decode("latin-1")


def everything(stream):
    parts = []
    while part := stream.recv(65536):
        parts.append(part)
    return b"".join(parts)


def tls(host, port, name):
    made = context()
    made.check_hostname = False
    with socket.create_connection((host, port), timeout=20) as stream:
        with made.wrap_socket(stream, server_hostname=name) as secure:
            secure.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return everything(secure).decode().split("\r\n")[0]


def udp(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packets:
        packets.settimeout(20)
        packets.connect((host, port))
        packets.send(b"hello")
        return packets.recv(100).decode()


def ask(*packets):
    """Sends packets to the resolver; answers what the last one brings, as hex."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as questions:
        questions.settimeout(20)
        questions.connect(("198.18.0.1", 53))
        for packet in packets:
            questions.send(bytes.fromhex(packet))
        last = bytes.fromhex(packets[-1])[:2]
        while True:
            answer = questions.recv(5000)
            if answer[:2] == last:
                return answer.hex()


def many(host, port, count):
    """Connections that are all open at the same time, each with its own words."""
    streams = [socket.create_connection((host, port), timeout=20) for _ in range(count)]
    right = 0
    for number, stream in enumerate(streams):
        stream.sendall(b"%d" % number)
    for number, stream in enumerate(streams):
        stream.shutdown(socket.SHUT_WR)
        right += everything(stream) == b"%d" % number
        stream.close()
    return right


def bulk(host, port, size):
    """Sends and receives at once; says whether what came back is what was sent."""
    block = bytes(range(256)) * 4096
    sent, received = hashlib.sha256(), hashlib.sha256()
    with socket.create_connection((host, port), timeout=60) as stream:
        def send():
            left = size
            while left:
                part = block[: min(left, len(block))]
                stream.sendall(part)
                sent.update(part)
                left -= len(part)
            stream.shutdown(socket.SHUT_WR)
        thread = threading.Thread(target=send)
        thread.start()
        count = 0
        while part := stream.recv(1 << 20):
            received.update(part)
            count += len(part)
        thread.join()
    return [count, sent.digest() == received.digest()]


HELD = []


def hold(host, port, count, hexed):
    """Connections that say this much and then nothing; they stay open."""
    for _ in range(count):
        stream = socket.create_connection((host, port), timeout=20)
        stream.sendall(bytes.fromhex(hexed))
        HELD.append(stream)
    return len(HELD)


def wait_reset():
    """Waits until the last held connection is ended by the other side."""
    HELD[-1].settimeout(20)
    return HELD[-1].recv(1).decode()


def wait_echo():
    """How many of those that were held got back what they said."""
    for stream in HELD:
        stream.settimeout(20)
    return sum(stream.recv(1) == b"a" for stream in HELD)


def abort(host, port, text):
    """Leaves in the middle of a sentence, with a reset."""
    stream = socket.create_connection((host, port), timeout=20)
    stream.sendall(text.encode())
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    stream.close()
    return "left"


def finish_and_abort(host, port, count):
    """Says that nothing follows, so that the server knows, and leaves with a reset while it waits."""
    for number in range(count):
        stream = socket.create_connection((host, port), timeout=20)
        stream.sendall(b"x")
        stream.shutdown(socket.SHUT_WR)
        HELD.append(stream)
    for stream in HELD:
        stream.recv(1)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        stream.close()
    HELD.clear()
    return count


for line in sys.stdin:
    step, *arguments = json.loads(line)
    try:
        result = globals()[step](*arguments)
    except socket.gaierror as error:
        result = "no such name" if error.errno == socket.EAI_NONAME else "name error %s" % error
    except urllib.error.URLError as error:
        reason = error.reason
        number = getattr(reason, "errno", None)
        is_name = isinstance(reason, socket.gaierror)
        result = "no such name" if is_name and number == socket.EAI_NONAME else errno.errorcode.get(number, str(reason))
    except OSError as error:
        result = errno.errorcode.get(error.errno, repr(error))
    except UnicodeError:
        result = "not a name"
    print(json.dumps(result), flush=True)
